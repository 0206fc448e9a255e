/**
 * What a recipe's `learn` hands to the learner: for each parameter set, which tokens are trained by which objective. Plain data,
 * without tensors, so that a recipe stays one file that Workers can load too. Names follow learner/losses.
 */
import type { TokenIds } from '../policy/policy.ts';
import type { Renderer } from '../renderer/renderer.ts';
import type { Aggregation } from '../rl/aggregation.ts';
import type { KlEstimator } from '../rl/corrections/index.ts';
import type { PolicyObjectiveSpec } from '../rl/objective.ts';
import type { Key, Maybe } from '../rl/types.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { Proposals, Sample, ScoredGroup } from '../schema/sample.ts';

/** A parameter set as it was in a version of the run's policy, for reference models and previous iterates. */
export interface WeightsRef {
  readonly set: string;
  readonly version: number;
}

/**
 * Whose distributions a student is taught: a set as it was in a version, of the run's policy or of another one with the same tokens. A role
 * of the recipe has to be bound to a version of another policy (`bindings`), so that every round names the exact bytes that taught.
 */
export interface TeacherRef extends WeightsRef {
  /** Name of another policy; absent = the run's own. */
  readonly policy?: string;
}

/** A prompt and the tokens after it that are scored or trained; the prompt never carries loss. */
export interface Sequence {
  readonly prompt: TokenIds;
  readonly ids: TokenIds;
}

interface Part {
  /** The role that the tokens belong to: the key of the report's figures. */
  readonly role: string;
  /** Weight of this part in the sum of the update's losses. */
  readonly weight: number;
}

/** The rewards that an estimator made advantages of, one for each rollout [rollouts]; an episode of several turns is one rollout. */
export interface Compared {
  readonly rewards: readonly Maybe[];
  /** The group that each is compared within. */
  readonly groups: readonly Key[];
  /** The tokens of each. */
  readonly lengths: readonly number[];
}

/** What the advantage of a sample was estimated from: number `at` of the rollouts that were compared. */
export interface Credit {
  readonly of: Compared;
  readonly at: number;
  /** Tokens of the rollout before the sample, which is a later turn of an episode; default 0. */
  readonly from?: number;
}

/** A sample with its advantage: one for all its tokens, or one per token [tokens]. */
export interface PolicyItem {
  readonly sample: Sample;
  readonly advantage: number | readonly number[];
  /** Absent where the advantage is more than an estimator makes of one reward a rollout: such credit cannot be estimated in another way. */
  readonly credit?: Credit;
  /** Which of its tokens are trained, 1 or 0 each [tokens]; default all. The others do not count, neither in the loss nor in its normaliser. */
  readonly mask?: readonly number[];
  /** Between which entropies (nats) the part's `entropyBand` leaves its trained tokens alone; absent = it has no band. */
  readonly band?: EntropyBounds;
}

/** Two entropies in nats, low ≤ high. */
export interface EntropyBounds {
  readonly low: number;
  readonly high: number;
}

/** Policy gradient on sampled tokens. */
export interface PolicyPart extends Part {
  readonly kind: 'policy';
  readonly items: readonly PolicyItem[];
  readonly objective: PolicyObjectiveSpec;
  readonly aggregation: Aggregation;
  /**
   * What ratios are taken against: the policy's own log-probabilities before the round's first update, with truncated importance
   * weights for samples of an older version (`proximal`), or those of the sampler itself, uncorrected (`sampler`). Default: as the
   * objective is defined, `sampler` for AIPO and DPPO, `proximal` for the others. Decoupled PPO has its own correction.
   */
  readonly old?: 'proximal' | 'sampler';
  /** The temperature of the sampling: the policy's logits are divided by it here too. It is the role's; another one is refused. */
  readonly temperature?: number;
  /** The KL penalty to a reference, as a term of the loss. */
  readonly kl?: { readonly weight: number; readonly estimator: KlEstimator; readonly reference: WeightsRef };
  /** Weight of the entropy bonus. */
  readonly entropy?: number;
  /** Weight of max(0, H − high) + max(0, low − H), which draws a token's entropy H back between its item's `band`. */
  readonly entropyBand?: number;
}

/**
 * Negative log-likelihood, for supervised fine-tuning and rejection sampling. The loss is a mean over the step's tokens; an item's weight
 * (default 1) multiplies its tokens' losses and leaves the divisor as it is.
 */
export interface SftPart extends Part {
  readonly kind: 'sft';
  readonly items: readonly (Sequence & { readonly weight?: number })[];
}

export interface PreferencePair {
  readonly chosen: Sequence;
  readonly rejected: Sequence;
  /** For SPPO: the win rates in [0, 1] against the policy that the responses were sampled from. */
  readonly winRates?: readonly [chosen: number, rejected: number];
  /**
   * Which tokens the two are compared by, 1 or 0 each [tokens]: the phrases that differ, say. Default all. The others do not count, neither in
   * the pair loss nor in a mean over a response; the NLL that is added to it is over all tokens.
   */
  readonly spans?: readonly [chosen: readonly number[], rejected: readonly number[]];
  /** What β·margin has to exceed, nats; 0 by default. For `dpo`, `spin` and `t-reg`. */
  readonly offset?: number;
  /** Factor on the pair's losses, at least 0, which leaves the divisor as it is. Default 1. */
  readonly weight?: number;
  /** For `t-reg`: a reward for each token [tokens]. */
  readonly tokenRewards?: readonly [chosen: readonly number[], rejected: readonly number[]];
}

export type PreferenceObjective =
  | { readonly kind: 'dpo'; readonly beta: number; readonly level?: 'sum' | 'mean' }
  /** DPO, and α times a term that makes each token likelier by its own reward (`tokenRewards`). */
  | { readonly kind: 't-reg'; readonly beta: number; readonly alpha: number }
  | { readonly kind: 'ipo'; readonly tau: number; readonly level?: 'sum' | 'mean' }
  | { readonly kind: 'spin'; readonly lambda: number }
  | { readonly kind: 'sppo'; readonly beta: number }
  | {
      readonly kind: 'kto';
      readonly beta: number;
      /** The KL of the policy to the reference, nats a response, at least 0. */
      readonly baseline: number;
      readonly desirable: number;
      readonly undesirable: number;
    }
  /** These two need no reference, and none is scored. */
  | { readonly kind: 'simpo'; readonly beta: number; readonly gamma: number }
  | { readonly kind: 'orpo'; readonly lambda: number };

/** A loss on pairs of responses, most of them against a frozen reference, as a mean over pairs. */
export interface PreferencePart extends Part {
  readonly kind: 'preference';
  readonly pairs: readonly PreferencePair[];
  readonly objective: PreferenceObjective;
  readonly reference: WeightsRef;
  /** Weight of the chosen response's negative log-likelihood per token, which is added to the loss. */
  readonly sft?: number;
}

/**
 * Cross-entropy of σ(β Σ log-ratio) against outcomes, which trains an implicit reward model (PRIME). The loss is a mean over sequences;
 * an item's weight (default 1) multiplies its loss and leaves the divisor as it is.
 */
export interface ImplicitPrmPart extends Part {
  readonly kind: 'implicit-prm';
  readonly items: readonly (Sequence & { readonly outcome: number; readonly weight?: number })[];
  readonly beta: number;
  readonly reference: WeightsRef;
}

/**
 * Regression of the score β·(Σ log π(ids) − reference) on a target, which makes the probability of a few tokens say something (LaSeR). The loss
 * is the mean of error² over sequences; an item's weight (default 1) multiplies its loss and leaves the divisor as it is.
 */
export interface LogRatioPart extends Part {
  readonly kind: 'log-ratio';
  readonly items: readonly (Sequence & { readonly target: number; readonly weight?: number })[];
  readonly beta: number;
  /** The log-probability of the tokens that counts as none, nats: a constant in place of a reference model's. */
  readonly reference: number;
}

/**
 * Regression of the set's value head on the value before each token of `ids`, as GAE takes it. The loss is a mean over tokens; token weights
 * [ids] (default 1) multiply a token's loss and leave the divisor as it is, so that 0 leaves a position out.
 */
export interface ValuePart extends Part {
  readonly kind: 'value';
  readonly items: readonly (Sequence & {
    readonly targets: readonly number[];
    readonly weights?: readonly number[];
  })[];
  /** τ of an expectile in place of the mean, 0 < τ < 1, as implicit Q-learning takes it; absent = the mean, which is τ = 0.5. */
  readonly expectile?: number;
}

/**
 * The loss of Bradley and Terry on pairs of answers, −log σ(s(chosen) − s(rejected)), whose score s is the log-odds of the second class of the set's
 * class head, which has two, after the last token. The loss is a mean over pairs.
 */
export interface RewardPairsPart extends Part {
  readonly kind: 'reward-pairs';
  readonly pairs: readonly { readonly chosen: Sequence; readonly rejected: Sequence }[];
}

/** The turns that one side wrote in a conversation, each after all that was said before it; at least one. */
export type Trajectory = readonly Sequence[];

/**
 * The loss of Bradley and Terry on pairs of trajectories, −log σ(β·(Σ A(chosen) − Σ A(rejected))), in which the advantage A of a turn is its log-ratio to the reference
 * (SWEET-RL). The loss is a mean over pairs.
 */
export interface TurnPreferencePart extends Part {
  readonly kind: 'turn-preference';
  readonly pairs: readonly { readonly chosen: Trajectory; readonly rejected: Trajectory }[];
  readonly beta: number;
  /** The log-ratio of a turn is a mean over its tokens (default) or their sum; with sums the loss is DPO on whole trajectories. */
  readonly level?: 'sum' | 'mean';
  readonly reference: WeightsRef;
}

/** Cross-entropy of the set's class head at the last token of `ids`. The loss is a mean over sequences. */
export interface ClassificationPart extends Part {
  readonly kind: 'classification';
  readonly items: readonly (Sequence & { readonly label: number })[];
}

/**
 * How far a student's next-token distribution is from a teacher's, nats:
 *
 * - `forward-kl` is KL(teacher‖student). It makes the student cover the teacher's modes.
 * - `reverse-kl` is KL(student‖teacher). It keeps the student inside the teacher's modes.
 * - `jensen-shannon` is β KL(teacher‖m) + (1 − β) KL(student‖m) with the mixture m = β teacher + (1 − β) student, 0 < β < 1.
 */
export type Divergence =
  | { readonly kind: 'forward-kl' }
  | { readonly kind: 'reverse-kl' }
  | { readonly kind: 'jensen-shannon'; readonly beta: number };

/** A divergence over the k likeliest tokens of one of the two, in which all others count as one outcome. */
export interface DivergenceOver {
  readonly k: number;
  readonly of: 'teacher' | 'student';
}

/**
 * Distillation: the student's next-token distributions at each token of `ids` are pulled towards the teacher's at the same token. The
 * teacher's weights do not change during the update, also where they are the parent version of the set that is trained; a set with
 * `average` is a teacher that follows slowly. The loss is a mean over tokens; token weights (default 1) multiply a token's divergence and
 * leave the divisor as it is.
 */
export interface DistillationPart extends Part {
  readonly kind: 'distillation';
  readonly items: readonly (Sequence & {
    /** What the teacher reads before `ids`, where that is not the student's prompt. */
    readonly teacherPrompt?: TokenIds;
    readonly weights?: readonly number[];
  })[];
  readonly teacher: TeacherRef;
  readonly divergence: Divergence;
  /** Absent = over the whole vocabulary. */
  readonly top?: DivergenceOver;
  /**
   * β ≥ 0 of a further weight exp(−β·H) on each token's divergence, with H the entropy (nats) of the teacher's whole distribution there, so
   * that a teacher counts less where it is uncertain (SRPO, arXiv:2604.02288). Absent = 0. It leaves the divisor as it is, too.
   */
  readonly entropyBeta?: number;
}

export type UpdatePart =
  | PolicyPart
  | SftPart
  | PreferencePart
  | ImplicitPrmPart
  | LogRatioPart
  | ValuePart
  | ClassificationPart
  | RewardPairsPart
  | TurnPreferencePart
  | DistillationPart;

/** The layers of the model that an update trains, and nothing else of the set. */
export interface LayersOnly {
  /** Numbers from 0, at least one, each once. */
  readonly layers: readonly number[];
  /** The rate of all its steps, in place of the set's and its schedule. */
  readonly learningRate: number;
}

/** An update of one parameter set: it trains some parts for some epochs (default 1). */
export interface Update {
  readonly set: string;
  readonly parts: readonly UpdatePart[];
  /** Optimiser steps an epoch; every item is in exactly one of them. Default: the set's. */
  readonly minibatches?: number;
  readonly epochs?: number;
  /** Optimistic AdamW: each step goes twice along its direction and once back along that of the step before. For sets that are trained against each other in a game. */
  readonly optimistic?: boolean;
  /**
   * Trains some layers alone, their weights or their adapters, by an AdamW of its own with the set's settings, which begins at zero and is dropped. Absent = all that is
   * trained of the set, by the set's optimiser.
   */
  readonly only?: LayersOnly;
}

/** An update of a few layers that is tried: the set is named beside it. */
export type TrialUpdate = Omit<Update, 'set'> & Required<Pick<Update, 'only'>>;

/** The records of a round that `learn` is given. */
export interface RoundRecords {
  readonly round: RoundSpec;
  readonly proposals: Proposals;
  /** The groups in order of their index. */
  readonly groups: readonly ScoredGroup[];
  /** The recipe state of the parent version, as JSON, which `readState` parses. Undefined at the start. */
  readonly recipeState: unknown;
  /** The parent version, from which the round trains. */
  readonly version: number;
}

/** What decides what proposals earned: no model is asked, so that an audit comes to the same. */
export type ProposalTools = Pick<LearnTools, 'decode' | 'renderer'>;

/** How the gradients of parts are compared with another. */
export interface AlignmentHow {
  /** Dot products (default), or those divided by both norms; 0 where a gradient is zero. */
  readonly measure?: 'dot' | 'cosine';
  /**
   * `adam`: each part's gradient g is first scaled as the set's optimiser would scale it at its next step, g/(√v̂ + ε), with g² taken into the mean square v. The
   * other one is not scaled. Absent = neither is.
   */
  readonly scaled?: 'adam';
}

/** What `learn` may ask of the models before it decides. Nothing is trained meanwhile; calls run one after the other. */
export interface LearnTools {
  decode(ids: TokenIds): string;
  encode(text: string): number[];
  /** The policy's renderer, for recipes that prompt with messages. */
  renderer(): Renderer;
  /** Log-probabilities of `ids` at temperature 1, nats [sequences][ids], under a set at a version; default the parent version. */
  score(set: string, sequences: readonly Sequence[], version?: number): Promise<Float32Array[]>;
  /** Entropies (nats) of the next-token distributions that `ids` are drawn from at temperature 1, [sequences][ids]; otherwise like `score`. */
  entropies(set: string, sequences: readonly Sequence[], version?: number): Promise<Float32Array[]>;
  /** The hidden states that `ids` are predicted from, after the final norm, [sequences][ids · width], under the set at the parent version. The host holds them all. */
  states(set: string, sequences: readonly Sequence[]): Promise<Float32Array[]>;
  /** The value that the set's value head gives before each token, [sequences][ids], at the parent version. */
  values(set: string, sequences: readonly Sequence[]): Promise<Float32Array[]>;
  /** Log-probabilities of the set's classes after the last token, nats [sequences][classes], at the parent version. */
  classes(set: string, sequences: readonly Sequence[]): Promise<Float32Array[]>;
  /**
   * How far the gradient of each part's loss points along that of `against`, with regard to what is trained of the set, at the parent version [parts]. Above 0: a small
   * step that lowers the part's loss lowers the other one too. Each part's items are taken as one step. One backward pass a part.
   */
  alignment(
    set: string,
    parts: readonly UpdatePart[],
    against: UpdatePart,
    how?: AlignmentHow,
  ): Promise<number[]>;
  /**
   * Log-probabilities of `ids` at temperature 1, nats [sequences][ids], that the set would have after these updates, taken in this order from the parent version. They are
   * undone: no version has them unless the plan has the same updates. Without updates it is `score`. One copy of the layers is held at a time, with two moments.
   */
  trial(
    set: string,
    updates: readonly TrialUpdate[],
    sequences: readonly Sequence[],
  ): Promise<Float32Array[]>;
}

/** What a round trains, as the recipe's `learn` returns it. */
export interface TrainingPlan {
  /** The updates in order. An empty list publishes the weights as they are: the round only gathers records. */
  readonly updates: readonly Update[];
  /** The recipe state, which the version carries to the next round; JSON that fits the recipe's `state`. Absent = unchanged. */
  readonly recipeState?: unknown;
  /** Further figures of the round, by name, for its report. */
  readonly figures?: Readonly<Record<string, number>>;
}

export interface OptimizerSettings {
  readonly learningRate: number;
  /** Number of updates with linear warm-up: without it the first steps of a fresh AdamW have full size. */
  readonly warmup: number;
  /** How the learning rate goes on after the warm-up. Default `constant`; the others fall to `floor` times the rate. */
  readonly schedule?: 'constant' | 'linear' | 'cosine';
  /** Optimiser steps of the whole run, warm-up included, after which a falling rate has reached its floor. */
  readonly totalSteps?: number;
  /** The smallest factor on the learning rate; default 0. */
  readonly floor?: number;
  readonly betas: readonly [number, number];
  readonly weightDecay: number;
  /** Bound on the gradient's Euclidean norm. */
  readonly clipNorm: number;
  /**
   * A step whose gradient norm before clipping is larger than this has exploded: it is left out and counted. Where every step of a
   * round explodes the round fails. Default 1000 · clipNorm.
   */
  readonly skipNorm?: number;
  /** Optimiser steps of one pass over an update's samples; every sample is in exactly one of them. */
  readonly minibatches: number;
  /** `int8`: a version holds the moments in 8 bits, a quarter of the bytes, and every round begins with what was rounded. Absent = float32. */
  readonly moments?: 'int8';
  /**
   * `bf16`: versions have what is trained in bfloat16, the set's weights or its adapter, which is what samples, and the optimiser's file the float32
   * values that training goes on with. Such weights are published as deltas where few of them change. Absent = float32.
   */
  readonly publish?: 'bf16';
}

/** Low-rank adapters on all projections (Hu et al., "LoRA", 2021). */
export interface AdapterSettings {
  /** Inner width of the matrices that are added to a projection. */
  readonly rank: number;
  /** What is added to a projection is scaled by alpha / rank. */
  readonly alpha: number;
}

/** A parameter set. All sets start as copies of version 0's weights. */
export interface SetSettings {
  /** null: no optimiser ever trains this set. */
  readonly optimizer: OptimizerSettings | null;
  /**
   * Only an adapter on the weights that the set begins with is trained, and those stay as they are. A version has the adapter's file and names that of
   * the weights; whoever samples folds the one into the other.
   */
  readonly adapter?: AdapterSettings;
  /** The set follows another after every round: this = decay·this + (1 − decay)·other. */
  readonly average?: { readonly of: string; readonly decay: number };
  /** A head on the trunk that starts at zero: `value` gives one number per token, `classes` gives `count` of them at a sequence's end. */
  readonly head?: { readonly kind: 'value' } | { readonly kind: 'classes'; readonly count: number };
}
