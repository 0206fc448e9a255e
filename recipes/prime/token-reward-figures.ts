/** How well token rewards separate right answers and steps from wrong ones, by the oracle; for the report alone. */
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { rendered, type TaskFamily } from '../../core/recipe/task-family.ts';
import { positionsByKey } from '../../core/rl/groups.ts';
import { areaUnderRoc } from '../../core/rl/measures/area-under-roc.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Numbers } from '../../core/rl/types.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { stepReader } from '../../protocols/step-credit.ts';

/**
 * AUC of the sums of token rewards over answers, and over the steps of answers. `groupAuc` compares answers to one task, as credit does, and is the
 * mean over groups with right and wrong answers. rewards [answers][tokens].
 */
export function tokenRewardFigures(
  given: TaskFamily,
  groups: readonly ScoredGroup[],
  rewards: readonly Numbers[],
  tools: Pick<LearnTools, 'encode' | 'decode' | 'renderer'>,
): { auc: number; groupAuc: number; stepAuc: number } {
  const family = rendered(given, tools);
  const { decode } = tools;
  const stepsOf = stepReader(given, tools.encode);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const sums = rewards.map((row) => sum(Array.from(row)));
  const answers = groups.flatMap(({ group, task, samples, answersExact }) =>
    samples.map((sample, i) => ({ group, task, sample, exact: answersExact[i] === true })),
  );
  const aucOf = (positions: readonly number[]) =>
    areaUnderRoc(
      positions.map((i) => sums[i]!),
      positions.map((i) => answers[i]!.exact),
    );
  const mixed = [...positionsByKey(answers.map(({ group }) => group)).values()].filter(
    (positions) => new Set(positions.map((i) => answers[i]!.exact)).size === 2,
  );
  const steps = answers.flatMap(({ task, sample: { ids } }, i) => {
    const solution = family.parseSolution(task, decode(ids));
    if (!solution.ok) return [];
    const of = stepsOf(ids);
    return family.exactJudgment(task, solution.value).steps.map((right, s) => ({
      right,
      score: sum(Array.from(rewards[i]!).filter((_, t) => of[t] === s)),
    }));
  });
  return {
    auc: aucOf([...sums.keys()]),
    groupAuc: mixed.length ? mean(mixed.map(aucOf)) : 0.5,
    stepAuc: areaUnderRoc(
      steps.map(({ score }) => score),
      steps.map(({ right }) => right),
    ),
  };
}
