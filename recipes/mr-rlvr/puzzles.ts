/**
 * Puzzles that are cut from worked solutions, and what they pay:
 *
 *     fill  <solve>3+4-9<sep><step>7<step><sep>      ->  <step>7<step>-2<answer>-2<eos>   some steps are hidden
 *     sort  <solve>3+4-9<sep><step>-2<step>7<sep>    ->  the same                         the steps are shuffled
 */
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RoundContext } from '../../core/round-context.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import type { Solution } from '../../core/task-family.ts';
import {
  type AnswerReward,
  exactReward,
  formatReward,
  payAnswers,
  randomReward,
} from '../../protocols/answer-rewards.ts';
import { fixedTasks, nextTasks } from '../../protocols/drawn-tasks.ts';
import { answer } from '../../protocols/roll-out.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { aidedPrompt, beginning, referenceSolution } from '../../tasks/arithmetic/aided.ts';
import { freshTask } from '../../tasks/arithmetic/demonstrations.ts';
import { arithmetic } from '../../tasks/arithmetic/family.ts';

/** Sums of every task. */
export const SUMS = 5;
/** Rounds of the first stage. */
export const FIRST_STAGE = 6;
/** Steps that are hidden where steps are to be filled in. */
const HIDDEN = 3;
/** Tasks of which there are worked solutions, and tasks of which there are answers. */
const CORPUS = 256;
const LABELLED = 32;

export const rewards = {
  exact: {
    ...exactReward,
    description: '1 for an exact answer; for a puzzle the share of the steps in question that are right',
  },
  format: formatReward,
  random: randomReward,
};

export const VARIANTS = {
  rlvr: 'no puzzles: in both stages the answers to the labelled tasks are paid',
  'corpus-answers':
    'no puzzles: in the first stage the answers to the tasks of the worked solutions are paid',
  'random-targets': 'a puzzle is paid by the steps of its solution in a drawn order',
} as const;

type Stage = Pick<RoundSpec, 'index' | 'settings'>;
const isFirst = ({ index }: Stage) => index <= FIRST_STAGE;
/** Whether a round is played on puzzles. */
export const hasPuzzles = (round: Stage): boolean =>
  isFirst(round) && round.settings.variant !== 'rlvr' && round.settings.variant !== 'corpus-answers';

const corpus = fixedTasks('mr-rlvr/corpus', CORPUS, (random) => freshTask(random, SUMS));
const labelled = fixedTasks('mr-rlvr/labelled', LABELLED, (random) => freshTask(random, SUMS));

/** The next tasks of the round’s stage. */
export const stageTasks = (round: RoundSpec): string[] =>
  nextTasks(round, isFirst(round) && round.settings.variant !== 'rlvr' ? corpus() : labelled());

export interface Puzzle {
  readonly kind: 'fill' | 'sort';
  /** What is shown beside the task. */
  readonly shown: string;
  /** The places of the steps in question [steps in question]. */
  readonly places: readonly number[];
}

/** The puzzle of a group: of which kind it is, and what is hidden or where it is shown, is drawn. */
export function puzzleOf({ group, task }: Pick<AdmittedTask, 'group' | 'task'>): Puzzle {
  const random = new Random(`puzzle/${group}`);
  const { steps } = referenceSolution(task);
  const places = steps.map((_, place) => place);
  if (random.bool()) return { kind: 'sort', shown: beginning(random.shuffle(steps)), places };
  const hidden = random.shuffle(places).slice(0, HIDDEN);
  return {
    kind: 'fill',
    shown: beginning(steps.map((step, place) => (hidden.includes(place) ? '' : step))),
    places: hidden,
  };
}

/** The share of the steps in question that are as in the target, which is a list of all steps. */
export const puzzleScore = (
  { places }: Pick<Puzzle, 'places'>,
  { steps }: Pick<Solution, 'steps'>,
  target: readonly string[],
): number => mean(places.map((place) => Number(steps[place] === target[place])));

/** Pays puzzles by the steps of the worked solution; `random-targets` by these steps in an order that is drawn for the group. */
const puzzleReward = (variant?: string): AnswerReward => ({
  ...rewards.exact,
  pay: ({ group, solutions }) => {
    const { steps } = referenceSolution(group.task);
    const target = variant === 'random-targets' ? new Random(`target/${group.group}`).shuffle(steps) : steps;
    return solutions.map((solution) =>
      solution.ok ? puzzleScore(puzzleOf(group), solution.value, target) : 0,
    );
  },
});

export async function rollOutStage(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  const samples = await answer(
    arithmetic,
    context,
    SOLVER,
    tasks.map(({ group, task }) => ({
      group,
      task,
      count: round.settings.groupSize,
      ...(hasPuzzles(round) ? { prompt: aidedPrompt(task, puzzleOf({ group, task }).shown) } : {}),
    })),
  );
  return tasks.map((task, t) => ({ round: round.id, ...task, samples: samples[t]! }));
}

export async function payStage(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { rewardFunction, variant } = context.round.settings;
  const reward =
    hasPuzzles(context.round) && rewardFunction === 'exact'
      ? puzzleReward(variant)
      : rewardNamed(rewards, rewardFunction);
  return groups.map((group) => payAnswers(arithmetic, reward, context, group));
}
