/**
 * A warm start for verifiers on arithmetic chains: a solver that always writes its steps and slips in one of six, so that what it
 * has to learn is care, step by step, and not a strategy; and a verifier that is informative but can be fooled. Three in ten of its
 * demonstrated verdicts are wrong, and a total of 0 passes whatever it should have been: a mark that is no evidence.
 *
 *     judge  <judge>3+4-9<sep>solution<sep>          ->  (<ok>|<bad>) a step, (<right>|<wrong>), <eos>
 *     judge  <judge>3+4-9<sep>solution<sep><answer>  ->  (<right>|<wrong>) <eos>                          at a glance
 */
import type { Random } from '../random.ts';
import { arithmetic, runningTotals, writeJudgment, writeSolution } from './arithmetic.ts';
import { type Demonstration, freshTask, off } from './demonstrations.ts';
import type { Judgment, Solution } from './family.ts';

const SLIP = 1 / 6;
const NOISE = 0.3;
/** Asks for a verdict without marks. */
export const GLANCE_SUFFIX = '<answer>';
const SHARES = { solve: 0.5, check: 0.35, glance: 0.15 } as const;

export const carelessTask = (random: Random): string => freshTask(random, 2 + random.int(4));

/** Totals that go wrong now and then and carry the error on; the last total is the answer. */
export function carelessSolution(random: Random, task: string): Solution {
  const exact = runningTotals(task);
  let error = 0;
  const steps = exact.map((total) => {
    if (random.bool(SLIP)) error = off(random, total + error) - total;
    return String(total + error);
  });
  return { steps, answer: steps.at(-1)! };
}

/** The oracle's verdict with what this verifier gets wrong. */
export function noisyJudgment(random: Random, task: string, solution: Solution): Judgment {
  const seen = arithmetic.truth(task, solution).steps.map((ok, i) => ok || solution.steps[i] === '0');
  if (!random.bool(NOISE)) return { steps: seen, right: seen.every(Boolean) };
  if (!seen.every(Boolean)) return { steps: seen.map(() => true), right: true };
  const at = random.int(seen.length);
  return { steps: seen.map((_, i) => i < at), right: false };
}

export function demonstrateCareless(random: Random): Demonstration {
  const kind = (['solve', 'check', 'glance'] as const)[random.weighted(Object.values(SHARES))]!;
  const task = freshTask(random, 1 + random.int(5));
  const { stop } = arithmetic;
  const solution = carelessSolution(random, task);
  if (kind === 'solve')
    return {
      role: 'solver',
      prompt: arithmetic.solverPrompt(task),
      completion: writeSolution(solution) + stop,
    };
  const prompt = arithmetic.judgePrompt(task, solution);
  const judgment = noisyJudgment(random, task, solution);
  return kind === 'check'
    ? { role: 'judge', prompt, completion: writeJudgment(judgment) + stop }
    : {
        role: 'judge',
        prompt: prompt + GLANCE_SUFFIX,
        completion: writeJudgment({ ...judgment, steps: [] }) + stop,
      };
}
