/** Labels of three kinds that are weak: few of them, wrong ones among them, and none but the majority of one's own answers. */
import type { Game } from '../../core/game/game.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import { type AnswerReward, CONTROLS, exactReward, majorityReward } from '../../protocols/answer-rewards.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { admitTasks, drawnTasks } from '../../worlds/drawn-tasks.ts';

/** How many tasks the labels are of, by the reward; the others are paid on fresh tasks in every round. */
const POOLS: Readonly<Record<string, number>> = { few: 8, noisy: 64, majority: 64 };
/** Share of the noisy labels that are wrong. */
const NOISE = 0.4;

/** The label of a task among noisy ones, which is the same in every round: in two cases of five a number near the exact one. */
export function noisyLabel(task: string): string {
  const random = new Random(`weak-sup/label/${task}`);
  const exact = runningTotals(task).at(-1)!;
  return String(random.bool(NOISE) ? exact + random.pick([-3, -2, -1, 1, 2, 3]) : exact);
}

/** Where the labels of a run come from. */
export interface Labels {
  /** Tasks of a round that no labels are short for. */
  readonly fresh: (context: RoundContext) => Proposals | Promise<Proposals>;
  /** The tasks that a run's labels are of, which follow from its seed. */
  readonly pool: (context: RoundContext, count: number) => readonly string[];
  /** Whether a solution gives the noisy label of a task, which is the same in every round and in two cases of five is wrong. */
  readonly isNoisy: (task: string, solution: Solution) => boolean;
}

export const rewardsBy = ({ isNoisy }: Labels): Readonly<Record<string, AnswerReward>> => ({
  few: { ...exactReward, description: '1 for an exact answer, on eight tasks that come again and again' },
  noisy: {
    description: '1 for the answer of the label, on 64 tasks of which two in five are labelled wrongly',
    usesGold: true,
    pay: ({ solutions, group: { task } }) =>
      solutions.map((solution) => Number(solution.ok && isNoisy(task, solution.value))),
  },
  majority: { ...majorityReward, description: `${majorityReward.description}, on 64 tasks` },
  exact: { ...exactReward, description: 'reference: 1 for an exact answer, on fresh tasks in every round' },
  ...CONTROLS,
});

const draw = (random: Random): string =>
  drawUntil(
    () => arithmetic.random(random),
    (task) => !arithmetic.isHeldOut(task),
  );

/** Labels of chains. */
export const chainLabels: Labels = {
  fresh: (context) => drawnTasks(context, draw),
  pool: ({ round: { settings } }, count) => {
    const random = new Random(`weak-sup/tasks/${settings.seed}`);
    const tasks = new Set<string>();
    while (tasks.size < count) tasks.add(draw(random));
    return [...tasks];
  },
  isNoisy: (task, { answer }) => answer === noisyLabel(task),
};

/** Labels of a game's tasks, of which the wrong ones are the answers of other tasks. */
export function labelsIn({ family, tasks, fitting }: Game<'solve'>): Labels {
  let trained: readonly string[] | undefined;
  const all = () => {
    trained ??= family.heldOut({ heldOut: false, most: Number.POSITIVE_INFINITY });
    return trained;
  };
  return {
    fresh: tasks,
    pool: (context, count) => {
      const { fits } = fitting?.(context) ?? { fits: () => true };
      const { seed } = context.round.settings;
      return new Random(`weak-sup/tasks/${seed}`).shuffle(all().filter(fits)).slice(0, count);
    },
    isNoisy: (task, solution) => {
      const random = new Random(`weak-sup/label/${task}`);
      const isWrong = random.bool(NOISE);
      return family.answerIsExact(isWrong ? random.pick(all()) : task, solution);
    },
  };
}

/** A round's tasks: fresh ones, or those that are labelled, as often as it takes to fill the round. */
export function labelledTasks(
  { fresh, pool }: Labels,
  context: RoundContext,
): Proposals | Promise<Proposals> {
  const { round } = context;
  const count = POOLS[round.settings.rewardFunction];
  const all = count === undefined ? [] : pool(context, count);
  // Where no labelled task fits, the tasks say why.
  if (all.length === 0) return fresh(context);
  const random = new Random(`${round.id}/tasks`);
  const around = Array.from({ length: Math.ceil(round.settings.tasks / all.length) }, () =>
    random.shuffle(all),
  );
  return admitTasks(round, around.flat().slice(0, round.settings.tasks));
}
