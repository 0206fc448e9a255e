/** The two stages: what a round is played on, and what it pays. A puzzle follows from the id of its group and its task. */
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
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
import { referenceSolution } from '../../worlds/arithmetic/aided.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { type Puzzle, puzzleFrom, puzzlePrompt } from '../../worlds/arithmetic/puzzles.ts';

/** Sums of every task. */
export const SUMS = 5;
/** Rounds of the first stage. */
export const FIRST_STAGE = 6;
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

/** The puzzle of a group. */
export const puzzleOf = ({ group, task }: Pick<AdmittedTask, 'group' | 'task'>): Puzzle =>
  puzzleFrom(new Random(`puzzle/${group}`), task);

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
      ...(hasPuzzles(round) ? { prompt: puzzlePrompt(task, puzzleOf({ group, task })) } : {}),
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
