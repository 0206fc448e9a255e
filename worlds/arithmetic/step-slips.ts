/**
 * A warm start for recipes with a verifier of steps on arithmetic chains. The solver always writes its steps, one in ten of which is wrong, so that
 * it has to learn to compute more carefully and not to choose another strategy. The verifier has seen exact checks, but too few to compute reliably.
 *
 *     judge  <judge>3+4-9<sep>solution<sep>          ->  (<ok>|<bad>) a step, (<right>|<wrong>), <eos>
 *     judge  <judge>3+4-9<sep>solution<sep><answer>  ->  (<right>|<wrong>) <eos>                          at a glance
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { type Demonstration, flawedSolution, freshTask, off } from './demonstrations.ts';
import { arithmetic, runningTotals, writeJudgment, writeSolution } from './family.ts';

/** Share of totals that are wrong. */
const SLIP = 0.1;
/** The end of a prompt that asks for a verdict without marks on steps. */
export const GLANCE_SUFFIX = '<answer>';
const SHARES = { solve: 0.45, check: 0.47, glance: 0.08 } as const;

export const slippingTask = (random: Random): string => freshTask(random, 2 + random.int(4));

/** Totals of which some are wrong; errors are carried on, and the last total is the answer. */
export function slippingSolution(random: Random, task: string, slip = SLIP): Solution {
  const exact = runningTotals(task);
  let error = 0;
  const steps = exact.map((total) => {
    if (random.bool(slip)) error = off(random, total + error) - total;
    return String(total + error);
  });
  return { steps, answer: steps.at(-1)! };
}

/** As many right solutions as wrong ones; each wrong one has one error. */
function shownSolution(random: Random, task: string): Solution {
  const totals = runningTotals(task).map(String);
  return random.bool() ? flawedSolution(random, task) : { steps: totals, answer: totals.at(-1)! };
}

export function demonstrateStepSlips(random: Random): Demonstration {
  const kind = (['solve', 'check', 'glance'] as const)[random.weighted(Object.values(SHARES))]!;
  const task = freshTask(random);
  const { stop } = arithmetic;
  if (kind === 'solve')
    return {
      role: 'solver',
      prompt: arithmetic.solverPrompt(task),
      completion: writeSolution(slippingSolution(random, task)) + stop,
    };
  const solution = shownSolution(random, task);
  const prompt = arithmetic.judgePrompt(task, solution);
  const judgment = arithmetic.exactJudgment(task, solution);
  return kind === 'check'
    ? { role: 'judge', prompt, completion: writeJudgment(judgment) + stop }
    : {
        role: 'judge',
        prompt: prompt + GLANCE_SUFFIX,
        completion: writeJudgment({ ...judgment, steps: [] }) + stop,
      };
}
