/** spin: a model plays against its previous iterate on data of supervised fine-tuning. */
import * as v from 'valibot';
import type {
  LearnTools,
  PreferencePair,
  RoundRecords,
  Sequence,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { role } from '../../core/recipe/role.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { count } from '../../core/schema/numbers.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { coinOf } from '../../protocols/gold.ts';
import { preferencePart, sftPart } from '../../protocols/objectives.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import { trainedSolver } from '../../protocols/solver.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { workedCorpus, workedExample } from '../../worlds/arithmetic/worked-corpus.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { checkAnswers } from './answered-corpus.ts';
import { goldLikelihood } from './evaluate.ts';

/** The paper's 0.1 lets the policy drift further from the opponent than a small model can without losing its skill; a variant shows that. */
const LAMBDA = 1;
export const PUBLISHED_LAMBDA = 0.1;
export const EPOCHS = 2;
export const PLAYER = 'player';
export const OPPONENT = 'opponent';
/** At most the longest trace of five operators. */
const MAX_NEW = 26;

/** The opponent's answer to a prompt of the data, as the next iteration needs it again. */
const played = v.object({ task: v.string(), ids: v.array(count) });
type Played = Readonly<v.InferOutput<typeof played>>;
const state = v.array(played);

/** The data's response to a task. */
type DataOf = (task: string) => Sequence;

/** The data's response as chosen, the opponent's as rejected; no pair where they are equal, since its gradient is zero. */
export function pairOf({ task, ids }: Played, dataOf: DataOf): PreferencePair | null {
  const chosen = dataOf(task);
  const same = chosen.ids.length === ids.length && chosen.ids.every((id, i) => id === ids[i]);
  return same ? null : { chosen, rejected: { prompt: chosen.prompt, ids } };
}

const swapped = ({ chosen, rejected }: PreferencePair): PreferencePair => ({
  chosen: rejected,
  rejected: chosen,
});

export interface SpinSettings {
  readonly lambda: number;
  readonly epochs: number;
}

/** The training set of an iteration: its own pairs and those of the iteration before. A group without an answer makes none. */
export function planIteration(
  { round, groups, recipeState }: RoundRecords,
  dataOf: DataOf,
  { lambda, epochs }: SpinSettings,
): TrainingPlan {
  const { rewardFunction, variant } = round.settings;
  const answered = groups.flatMap(({ task, samples: [first] }): Played[] =>
    first ? [{ task, ids: first.ids }] : [],
  );
  const both = [...answered, ...(readState(state, recipeState) ?? [])];
  const pairs = both
    .flatMap((item) => pairOf(item, dataOf) ?? [])
    .map((pair, i) => (rewardFunction === 'random' && coinOf(`${round.id}/${i}`) ? swapped(pair) : pair));
  const reference = { set: MAIN_SET, version: round.roles[OPPONENT]!.version };
  const plan =
    variant === 'sft'
      ? sftPart(
          PLAYER,
          both.map(({ task }) => dataOf(task)),
        )
      : preferencePart(PLAYER, pairs, { kind: 'spin', lambda }, reference);
  return {
    // Where the opponent wrote the data's response to every prompt, there is nothing left to learn.
    updates: pairs.length ? [{ set: MAIN_SET, parts: [plan], epochs }] : [],
    recipeState: answered,
    figures: { pairs: pairs.length },
  };
}

function learn(records: RoundRecords, { encode }: LearnTools): TrainingPlan {
  const lambda = records.round.settings.variant === 'published-lambda' ? PUBLISHED_LAMBDA : LAMBDA;
  const dataOf = (task: string): Sequence => {
    const { prompt, completion } = workedExample(task);
    return { prompt: encode(prompt), ids: encode(completion) };
  };
  return planIteration(records, dataOf, { lambda, epochs: EPOCHS });
}

export const spin: WithoutSetup = {
  name: 'spin',
  title: 'Self-play fine-tuning against the previous iterate',
  paper: arXiv('2401.01335', 'Self-Play Fine-Tuning Converts Weak Language Models to Strong Language Models'),
  summary:
    'The opponent, the newest version, answers the prompts of a fixed corpus; the player learns by a logistic loss to raise the corpus’ worked solutions above those answers, relative to the opponent. Then the player becomes the opponent.',
  method: {
    setting:
      'A corpus of 2,000 arithmetic prompts with worked solutions is all the data. The start policy was fine-tuned on it and stopped early: it is right on two of five held-out tasks.',
    roles:
      'The opponent, which is the newest version, answers prompts of the corpus. The player is trained; after the round it becomes the next opponent.',
    rewards:
      'Nobody is rewarded and no preference is labelled: the corpus’ response y is always preferred to the opponent’s y’.',
    credit:
      'A pair is a prompt’s two responses. Pairs in which the opponent wrote the corpus’ response word for word are left out, since they have no gradient.',
    objective:
      'The loss of a pair is -log σ(λ [log p(y)/p_t(y) - log p(y’)/p_t(y’)]), where p_t is the opponent, which is also the reference, and λ = 1.',
    schedule:
      'A round is an iteration: 384 prompts, their pairs together with those of the iteration before, gone over twice.',
  },
  differences: [
    'AdamW at a constant 1e-5 instead of RMSprop at 5e-7, falling, and at 1e-7 in the later iterations; lambda is 1 throughout, where the paper has 0.1 and, in the last iteration, 5. Twelve steps a pass, of some 30 pairs at first and 60 later, the paper’s 64; three iterations in the claim, the paper’s four.',
    'Each iteration draws 384 prompts of 2,000, where the paper answers all of its prompts again: the two iterations whose answers are mixed share few prompts.',
    'Pairs in which the opponent wrote the data’s response word for word are left out: their gradient is zero.',
    'No format control: the data’s responses and 98 in 100 of the player’s own are well-formed, so that form would leave hardly a pair.',
  ],
  figures: {
    goldLikelihood: 'Likelihood of a token of the exact held-out solutions, geometric mean; 0 to 1.',
    pairs: 'Number of pairs that are trained on.',
  },
  taskName: 'arithmetic',
  stop: arithmetic.stop,
  rewards: {
    data: { description: 'the data’s response is preferred to the opponent’s', usesGold: true },
    random: { description: 'control: a fair coin says which is preferred', usesGold: true },
  },
  state,
  variants: {
    sft: 'supervised fine-tuning on the same data, as many updates',
    'published-lambda': 'lambda 0.1',
  },
  sets: trainedSolver({ learningRate: 1e-5, warmup: 5, weightDecay: 0, minibatches: 12 }),
  roles: {
    [PLAYER]: role('is trained to prefer the corpus to the opponent and samples nothing', MAX_NEW, {
      speaksAs: 'solver',
    }),
    [OPPONENT]: role('the previous iterate, answers the prompts', MAX_NEW, { speaksAs: 'solver' }),
  },
  freezable: [OPPONENT],
  propose: async (context) => drawnTasks(context, (random) => random.pick(workedCorpus())),
  rollOut: (context, tasks) => rollOut({ family: arithmetic }, context, tasks, OPPONENT),
  judge: async (context, groups) => checkAnswers(arithmetic, context, groups),
  learn,
  /** Reports, beside accuracy, the likelihood of the exact held-out traces. */
  evaluate: async (context) => {
    const heldOut = await evaluateSolver(context, {
      family: arithmetic,
      role: PLAYER,
      temperature: 1,
      force: false,
    });
    const likelihood = await goldLikelihood(
      context,
      PLAYER,
      arithmetic.heldOut(context.evaluationTasks).map(workedExample),
    );
    return evaluation(heldOut, { goldLikelihood: likelihood });
  },
  describe: { difficulty: arithmetic.difficulty, worked: (text) => text.startsWith(arithmetic.workedPrefix) },
};
