/**
 * Arithmetic chains for a solver that continues after it has finished: before the answer, the steps may be followed by marks that state nothing and
 * cost a token each.
 *
 *     solver  <solve>3+4-9<sep>  ->  (sign total)* <ok>* <answer>total<eos>        sign: <step> or any letter
 *
 * A step begins with a sign, every second time with `<step>`; any letter is as good, as in natural language there are rare ways to write the same.
 * The length of an answer is the policy’s choice and does not decide whether it is right, except that an answer that reaches the limit is cut off. In
 * the warm start one step in ten is wrong, unless the task has only one, and an answer has on average as many marks as steps, sometimes many more.
 * The policy therefore has to learn to compute carefully and to be brief.
 */
import type { Random } from '../../core/random.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import { type Demonstration, freshTask } from './demonstrations.ts';
import { arithmetic } from './family.ts';
import { slippingSolution } from './step-slips.ts';

/** Share of totals that are wrong, in tasks with several totals. */
const SLIP = 0.1;
/** Mean number of marks of a demonstration, for each operator of its task. */
const CHECKS = 3;
/** The most marks of a demonstration: with that many it is longer than any recipe’s limit of tokens. */
const MOST_CHECKS = 60;

/** Share of a demonstration's steps that begin with a letter, each as often as any other. */
const LETTER_SHARE = 0.5;
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** A letter in place of `<step>`. */
const LETTER_SIGN = /[a-zA-Z](?=-?\d)/g;

/** The marks at the end of the steps. */
const TAIL = /(?:<ok>)+(?=<answer>)/;

export const verboseArithmetic: TaskFamily = {
  ...arithmetic,
  name: 'arithmetic with checks',
  parseSolution: (task, text) =>
    arithmetic.parseSolution(task, text.replace(TAIL, '').replace(LETTER_SIGN, '<step>')),
};

/** A number of marks that is drawn from a geometric distribution. */
function drawChecks(random: Random, task: string): number {
  const goOn = 1 - 1 / (1 + CHECKS * arithmetic.difficulty(task));
  let checks = 0;
  while (checks < MOST_CHECKS && random.bool(goOn)) checks++;
  return checks;
}

export function demonstrateVerbose(random: Random): Demonstration {
  const task = freshTask(random);
  const slip = arithmetic.difficulty(task) > 1 ? SLIP : 0;
  const { steps: totals, answer } = slippingSolution(random, task, slip);
  const sign = () => (random.bool(LETTER_SHARE) ? random.pick([...LETTERS]) : '<step>');
  const steps = totals.map((total) => `${sign()}${total}`).join('');
  return {
    role: 'solver',
    prompt: arithmetic.solverPrompt(task),
    completion: `${steps}${'<ok>'.repeat(drawChecks(random, task))}<answer>${answer}${arithmetic.stop}`,
  };
}
