/**
 * Arithmetic chains for a solver that goes on after it has finished: the steps may be followed by checks, marks that say nothing more
 * and cost a token each, before the answer.
 *
 *     solver  <solve>3+4-9<sep>  ->  (<step>total)* <ok>* <answer>total<eos>
 *
 * Its warm start checks for somewhat longer than its steps took, in one answer of seven for more than twice as long as that: how long an
 * answer becomes is the policy's choice and has no bearing on whether it is right, except that one that meets the limit is none.
 */
import type { Random } from '../random.ts';
import { arithmetic, runningTotals } from './arithmetic.ts';
import { type Demonstration, freshTask } from './demonstrations.ts';
import type { TaskFamily } from './family.ts';

/** Checks that a demonstration has on average, for each operator of its task. */
const CHECKS = 4;
/** Most checks of a demonstration: beyond any limit that a recipe may set. */
const MOST_CHECKS = 60;

/** The checks at the end of the steps. */
const TAIL = /(?:<ok>)+(?=<answer>)/;

export const rambling: TaskFamily = {
  ...arithmetic,
  name: 'arithmetic with checks',
  readSolution: (task, text) => arithmetic.readSolution(task, text.replace(TAIL, '')),
};

/** Checks with the same chance to go on after each, four an operator on average. */
function drawChecks(random: Random, task: string): number {
  const goOn = 1 - 1 / (1 + CHECKS * arithmetic.difficulty(task));
  let checks = 0;
  while (checks < MOST_CHECKS && random.bool(goOn)) checks++;
  return checks;
}

export function demonstrateRambling(random: Random): Demonstration {
  const task = freshTask(random);
  const totals = runningTotals(task);
  const steps = totals.map((total) => `<step>${total}`).join('');
  return {
    role: 'solver',
    prompt: arithmetic.solverPrompt(task),
    completion: `${steps}${'<ok>'.repeat(drawChecks(random, task))}<answer>${totals.at(-1)}${arithmetic.stop}`,
  };
}
