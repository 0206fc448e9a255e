/** What token rewards know of right and wrong, by the oracle: for the report alone. */
import { areaUnderRoc } from '../rl/area-under-roc.ts';
import type { Numbers } from '../rl/types.ts';
import type { ScoredGroup } from '../schema/sample.ts';
import type { TaskFamily } from '../tasks/family.ts';
import type { LearnTools } from '../training.ts';
import { stepOfToken } from './step-credit.ts';

/** AUC of their sums over answers, and over the steps of answers. rewards [answers][tokens]. */
export function tokenRewardFigures(
  family: TaskFamily,
  groups: readonly ScoredGroup[],
  rewards: readonly Numbers[],
  { encode, decode }: Pick<LearnTools, 'encode' | 'decode'>,
): { auc: number; stepAuc: number } {
  const [opens, closes] = encode('<step><answer>') as [number, number];
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const answers = groups.flatMap(({ task, samples, gold }) =>
    samples.map((sample, i) => ({ task, sample, exact: gold[i] === true })),
  );
  const steps = answers.flatMap(({ task, sample: { ids } }, i) => {
    const solution = family.readSolution(task, decode(ids));
    if (!solution.ok) return [];
    const of = stepOfToken(ids, opens, closes);
    return family.truth(task, solution.value).steps.map((right, s) => ({
      right,
      score: sum(Array.from(rewards[i]!).filter((_, t) => of[t] === s)),
    }));
  });
  return {
    auc: areaUnderRoc(
      rewards.map((row) => sum(Array.from(row))),
      answers.map(({ exact }) => exact),
    ),
    stepAuc: areaUnderRoc(
      steps.map(({ score }) => score),
      steps.map(({ right }) => right),
    ),
  };
}
