/** The round context: what every stage is given to sample from each role at exactly the version that the round names, and to record it. */
import type { EpisodesOf } from '../episodes/agent-episode.ts';
import { RollmeshError, wrongInput } from '../errors.ts';
import { bringImages, type ImageStore } from '../images/shown.ts';
import type { AskService } from '../net/reward-service.ts';
import { measure, measurementKey } from '../policy/measure.ts';
import type {
  Completion,
  GeneratePrompt,
  MeasuredSequence,
  Policy,
  PolicyRef,
  SamplingSettings,
  TokenIds,
  TokenScores,
} from '../policy/policy.ts';
import { longSha256Hex } from '../random.ts';
import type { PolicyText } from '../renderer/policy-text.ts';
import type { Renderer } from '../renderer/renderer.ts';
import type { Measurement, Measurements } from '../schema/measurement.ts';
import type { Outcome } from '../schema/outcome.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { Sample } from '../schema/sample.ts';
import type { Tokenizer } from '../text/tokenizer-port.ts';
import type { RoleSettings, StageRecipe } from './role.ts';
import { type EvaluationTasks, HELD_OUT } from './split.ts';

/** `R`: what is known of the recipe beyond what a stage needs; a recipe's own functions need no more than `StageRecipe`. */
export interface RoundContext<R extends StageRecipe = StageRecipe> {
  readonly recipe: R;
  readonly round: RoundSpec;
  readonly tokenizer: Tokenizer;
  /** Converts between messages and this policy's tokens, for recipes that prompt with messages. */
  readonly renderer: () => Renderer;
  /** The most tokens that a sequence of the policy may have, prompt included. */
  readonly contextLength: number;
  /** The tasks that this run is evaluated on. A recipe that trains on its test tasks, as ttrl does, takes them from here too. */
  readonly evaluationTasks: EvaluationTasks;
  /** [prompts] -> [prompts][samples], sampled by the role with the recipe's settings unless `change` overrides them. */
  readonly generate: (
    role: string,
    prompts: readonly GeneratePrompt[],
    change?: Partial<SamplingSettings>,
  ) => Promise<Completion[][]>;
  /**
   * What the role's policy says of given sequences: log-probabilities and entropies of their tokens, and what the head of its set gives, if it has one.
   * The record of the sequence's group keeps it; an audit takes it from there, or measures again.
   */
  readonly measure: (role: string, sequences: readonly MeasuredSequence[]) => Promise<Measurement[]>;
  /** What was measured here so far for the record of a group, or, without a name, of the proposals; undefined = nothing. */
  readonly measured: (group?: string) => Measurements | undefined;
  /** How the policy that plays the role reads and writes text, where that may be another than the one that is trained. */
  readonly textOf: (role: string) => Promise<PolicyText>;
  /** The recipe state that the last round's training plan left; undefined in the first round. */
  readonly recipeState: () => Promise<unknown>;
  /** Asks a reward service about a group, once: later calls, and audits, get the recorded answer. */
  readonly askService: AskService;
  /** The episodes that agents held about a group's task: later calls, and audits, get the recorded ones. */
  readonly episodes: EpisodesOf;
  /** Reads an object of tasks that lies beside the recipe (`Recipe.stored`), by its sha256, and checks it. */
  readonly readStored: ReadStored;
}

export type ReadStored = (sha256: string) => Promise<Uint8Array<ArrayBuffer>>;

/** The round context of an evaluation: all roles at one version. Only here are scores of whole sequences, which no record keeps. */
export interface EvaluationContext extends RoundContext {
  /** Scores whole sequences under the role's weights, at temperature 1. */
  readonly score: (role: string, sequences: readonly TokenIds[]) => Promise<TokenScores[]>;
  readonly version: number;
  /** The same context at version 0, from which fixed test sets are sampled. */
  readonly atStart: RoundContext;
  /** Makes something once per run: a later call with the same key returns the same promise. */
  readonly once: <T>(key: string, make: () => Promise<T>) => Promise<T>;
}

/** What a runtime provides to make a round context. */
export interface RoundContextParts<R extends StageRecipe = StageRecipe> {
  readonly recipe: R;
  readonly round: RoundSpec;
  readonly tokenizer: Tokenizer;
  /** Default: a policy that cannot be prompted with messages. */
  readonly renderer?: PolicyText['renderer'] | undefined;
  /** Default: no bound. */
  readonly contextLength?: number | undefined;
  /** How another policy than the run's own reads and writes text. Default: there is none. */
  readonly textOf?: ((ref: PolicyRef) => Promise<PolicyText>) | undefined;
  /** Runs `work` with the policy of exactly this version and set, which plays `role`. */
  readonly use: <T>(ref: PolicyRef, work: (policy: Policy) => Promise<T>, role: string) => Promise<T>;
  readonly recipeState: () => Promise<unknown>;
  /** Default: no service can be asked. */
  readonly askService?: AskService | undefined;
  /** Default: no agent can reach this round. */
  readonly episodes?: EpisodesOf | undefined;
  /** Default: all held-out tasks. */
  readonly evaluationTasks?: EvaluationTasks | undefined;
  /** Default: no objects of tasks can be read. */
  readonly readStored?: ReadStored | undefined;
  /** Stores an image that prompts show and that this process drew, under its sha256. Default: nobody else has to see it. */
  readonly storeImage?: ImageStore['put'];
}

/** Throws where a stage that was opened without a renderer asks for one. */
export const noRenderer = (): Renderer => {
  throw new Error('internal: this stage was opened without a renderer');
};

const noOther = ({ name }: PolicyRef): Promise<PolicyText> =>
  Promise.reject(new Error(`internal: this stage was opened without the text of policy ${name}`));

const noService: AskService = ({ reward }) => {
  throw wrongInput(
    'reward.service',
    `The reward ${reward} comes from a service, and none can be asked here.`,
    {
      expected: 'a run in the mesh or in one process',
    },
  );
};

const noAgents: EpisodesOf = () =>
  Promise.reject(
    wrongInput(
      'agent.unreachable',
      'The rollouts of this round come from agents, and none can reach it here.',
      {
        expected: 'a run in a mesh, local or deployed',
        next: 'Leave --in-process out.',
      },
    ),
  );

const nothingStored: ReadStored = () =>
  Promise.reject(
    wrongInput('tasks.unreachable', 'The tasks of this run lie beside its recipe, and cannot be read here.', {
      expected: 'a stage of the mesh, a run in one process, or an audit',
    }),
  );

/** The object with its hash checked. Throws `tasks.damaged` where its bytes are others than those that the run was ordered on. */
const checkedRead =
  (read: ReadStored): ReadStored =>
  async (sha256) => {
    const bytes = await read(sha256);
    const found = await longSha256Hex(bytes);
    if (found === sha256) return bytes;
    throw new RollmeshError('give-up', 'tasks.damaged', `The object of tasks ${sha256} has other bytes.`, {
      expected: `bytes of that sha256, and not of ${found}`,
      next: 'Remove it, then start the run again with the same --tasks: it is stored anew.',
    });
  };

/** How the policy that plays a role reads and writes text: as the run's own, or as another one does. */
export async function textOfRole(
  {
    round,
    tokenizer,
    renderer = noRenderer,
    contextLength = Number.POSITIVE_INFINITY,
    textOf = noOther,
  }: Pick<RoundContextParts, 'round' | 'tokenizer' | 'renderer' | 'contextLength' | 'textOf'>,
  role: string,
): Promise<PolicyText> {
  const ref = refOf(round, role);
  return ref.name === round.settings.policy ? { tokenizer, renderer, contextLength } : textOf(ref);
}

export function openRoundContext<R extends StageRecipe>({
  recipe,
  round,
  tokenizer,
  renderer = noRenderer,
  contextLength = Number.POSITIVE_INFINITY,
  textOf: textOfOther = noOther,
  use,
  recipeState,
  askService = noService,
  episodes = noAgents,
  evaluationTasks = HELD_OUT,
  readStored = nothingStored,
  storeImage,
}: RoundContextParts<R>): RoundContext<R> {
  const own: PolicyText = { tokenizer, renderer, contextLength };
  const texts = new Map<string, Promise<PolicyText>>();
  const measured = new Map<string | undefined, Record<string, Measurement>>();
  const textOf = async (role: string): Promise<PolicyText> => {
    const { name } = refOf(round, role);
    const text = texts.get(name) ?? textOfRole({ round, ...own, textOf: textOfOther }, role);
    texts.set(name, text);
    return text;
  };
  const show = (lists: readonly TokenIds[]) => bringImages(lists, { read: readStored, put: storeImage });
  return {
    recipe,
    round,
    ...own,
    textOf,
    recipeState,
    askService,
    episodes,
    evaluationTasks,
    readStored: checkedRead(readStored),
    // Without prompts no session is opened: a stage whose groups are all off-grammar never loads the judge.
    generate: async (role, prompts, change = {}) => {
      if (prompts.length === 0) return [];
      const settings = { ...samplingOf({ recipe, ...(await textOf(role)) }, role), ...change };
      await show(prompts.map(({ ids }) => ids));
      return use(refOf(round, role), (policy) => policy.generate(prompts, settings), role);
    },
    measure: async (role, sequences) => {
      if (sequences.length === 0) return [];
      const ref = refOf(round, role);
      await show(sequences.map(({ prompt }) => prompt));
      const made = await use(ref, (policy) => measure(policy, sequences), role);
      for (const [i, sequence] of sequences.entries()) {
        const kept = measured.get(sequence.group) ?? {};
        kept[measurementKey(ref, sequence)] = made[i]!;
        measured.set(sequence.group, kept);
      }
      return made;
    },
    measured: (group) => measured.get(group),
  };
}

/** The round with all roles at one version of their sets, frozen or not, and in float32: an evaluation asks what the weights can do. */
const evaluationRound = (round: RoundSpec, version: number): RoundSpec => ({
  ...round,
  roles: Object.fromEntries(
    Object.entries(round.roles).map(([role, { weights: _, ...ref }]) => [role, { ...ref, version }]),
  ),
});

/** `kept` holds what evaluations of one run share (see `once`). */
export function openEvaluationContext(
  parts: RoundContextParts,
  version: number,
  kept: Map<string, Promise<unknown>>,
): EvaluationContext {
  const round = evaluationRound(parts.round, version);
  return {
    ...openRoundContext({ ...parts, round }),
    version,
    atStart: openRoundContext({ ...parts, round: evaluationRound(parts.round, 0) }),
    score: async (role, sequences) => {
      if (sequences.length === 0) return [];
      await bringImages(sequences, { read: parts.readStored ?? nothingStored });
      return parts.use(refOf(round, role), (policy) => policy.score(sequences), role);
    },
    once<T>(key: string, make: () => Promise<T>): Promise<T> {
      const made = kept.get(key) ?? make();
      kept.set(key, made);
      // What failed is made again for the next evaluation.
      made.catch(() => kept.get(key) === made && kept.delete(key));
      return made as Promise<T>;
    },
  };
}

/** The version that a round names for a role. Throws `give-up` where it names none: the round is of another recipe. */
export function refOf(round: RoundSpec, role: string): PolicyRef {
  const ref = round.roles[role];
  if (ref) return ref;
  throw new RollmeshError('give-up', 'round.role', `Round ${round.id} has no ${role}.`, {
    expected: `one of ${Object.keys(round.roles).join(', ')}`,
  });
}

export function roleOf(recipe: StageRecipe, role: string): RoleSettings {
  const settings = recipe.roles[role];
  if (settings) return settings;
  throw wrongInput('recipe.role', `Recipe ${recipe.name} has no role ${JSON.stringify(role)}.`, {
    expected: `one of ${Object.keys(recipe.roles).join(', ')}`,
  });
}

/** How a role samples, and where its completions end: at the recipe's own token, or where the policy's renderer says. */
export const samplingOf = (
  { recipe, tokenizer, renderer }: Pick<RoundContext, 'recipe' | 'tokenizer' | 'renderer'>,
  role: string,
): SamplingSettings => ({
  ...roleOf(recipe, role).sampling,
  ...(recipe.stop === undefined ? renderer().ends() : { stop: [tokenizer.id(recipe.stop)] }),
});

/** A sample as it was generated; its reader fills in `outcome` and `rewards`. */
export function sampleOf(
  { round }: Pick<RoundContext, 'round'>,
  role: string,
  id: string,
  prompt: TokenIds,
  completion: Completion,
  outcome: Outcome,
  rewards: Sample['rewards'] = {},
): Sample {
  const { ids, logprobs, stopped } = completion;
  return {
    id,
    role,
    policy: { ...refOf(round, role) },
    prompt: [...prompt],
    ids,
    logprobs,
    stopped,
    outcome,
    rewards,
  };
}
