/** Held-out evaluation by depth: whether greedy answers are right, with every step right, and what the judge says of sampled ones. */

import type { EvaluationContext } from '../../../core/recipe/round-context.ts';
import { mean } from '../../../core/rl/statistics.ts';
import type { Evaluation } from '../../../core/schema/evaluation.ts';
import { heldOutAnswers, heldOutFigures } from '../../../protocols/evaluate/solver.ts';
import { composition, depthOf } from '../../../worlds/composition/family.ts';

const SOLVER = { family: composition, role: 'solver' };

export async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const tasks = composition.heldOut(context.evaluationTasks);
  const greedy = await heldOutAnswers(SOLVER, context, { seed: 'greedy', temperature: 0 });
  const sampled = await heldOutAnswers(SOLVER, context, { seed: 'natural', temperature: 1 });
  const rightSteps = greedy.map((answer, i) =>
    Number(answer.ok && composition.exactJudgment(tasks[i]!, answer.value).right),
  );
  const depths = [...new Set(tasks.map(depthOf))].sort((a, b) => a - b);
  return {
    heldOut: heldOutFigures(composition, tasks, { greedy, sampled }),
    judge: { fixed: null, own: null },
    figures: {
      rightSteps: mean(rightSteps),
      ...Object.fromEntries(
        depths.map((depth) => [
          `depth.${depth}`,
          mean(rightSteps.filter((_, i) => depthOf(tasks[i]!) === depth)),
        ]),
      ),
    },
  };
}
