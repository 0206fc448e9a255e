/** Labels of three kinds that are weak: few of them, wrong ones among them, and none but the majority of one's own answers. */
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { Proposals } from '../../core/schema/sample.ts';
import {
  type AnswerReward,
  exactReward,
  formatReward,
  majorityReward,
  randomReward,
} from '../../protocols/answer-rewards.ts';
import { admitTasks, drawnTasks } from '../../protocols/drawn-tasks.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';

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

export const rewards: Readonly<Record<string, AnswerReward>> = {
  few: { ...exactReward, description: '1 for an exact answer, on eight tasks that come again and again' },
  noisy: {
    description: '1 for the answer of the label, on 64 tasks of which two in five are labelled wrongly',
    usesGold: true,
    pay: ({ answers, group: { task } }) => answers.map((answer) => Number(answer === noisyLabel(task))),
  },
  majority: { ...majorityReward, description: `${majorityReward.description}, on 64 tasks` },
  exact: { ...exactReward, description: 'reference: 1 for an exact answer, on fresh tasks in every round' },
  format: formatReward,
  random: randomReward,
};

const draw = (random: Random): string =>
  drawUntil(
    () => arithmetic.random(random),
    (task) => !arithmetic.isHeldOut(task),
  );

/** The tasks that a run's labels are of, which follow from its seed. */
export function labelled({ settings }: Pick<RoundSpec, 'settings'>): string[] {
  const random = new Random(`weak-sup/tasks/${settings.seed}`);
  const tasks = new Set<string>();
  while (tasks.size < POOLS[settings.rewardFunction]!) tasks.add(draw(random));
  return [...tasks];
}

/** A round's tasks: fresh ones, or those that are labelled, as often as it takes to fill the round. */
export function labelledTasks(context: RoundContext): Proposals {
  const { round } = context;
  if (!(round.settings.rewardFunction in POOLS)) return drawnTasks(context, draw);
  const all = labelled(round);
  const random = new Random(`${round.id}/tasks`);
  const around = Array.from({ length: Math.ceil(round.settings.tasks / all.length) }, () =>
    random.shuffle(all),
  );
  return admitTasks(round, around.flat().slice(0, round.settings.tasks));
}
