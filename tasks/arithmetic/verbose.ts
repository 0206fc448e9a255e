/**
 * Arithmetic chains for a solver that goes on after it has finished: the steps may be followed by checks, marks that say nothing more
 * and cost a token each, before the answer.
 *
 *     solver  <solve>3+4-9<sep>  ->  (sign total)* <ok>* <answer>total<eos>        sign: <step> or any letter
 *
 * A step begins with its sign, every second time `<step>`, and any letter is as good: rare ways of writing the same, of which a language
 * has many. How long an answer becomes is the policy's choice and has no bearing on whether it is right, except that one that meets the
 * limit is none. Its warm start slips in one step of ten, unless the task has but one, and checks about as long as its steps took, now and
 * then much longer: what it lacks is care and brevity, and little of that is form.
 */
import type { Random } from '../../core/random.ts';
import type { TaskFamily } from '../../core/task-family.ts';
import { type Demonstration, freshTask } from './demonstrations.ts';
import { arithmetic } from './family.ts';
import { slippingSolution } from './step-slips.ts';

/** Share of totals that go wrong, where there are several. */
const SLIP = 0.1;
/** Checks that a demonstration has on average, for each operator of its task. */
const CHECKS = 3;
/** The most checks of a demonstration: with as many it is longer than any recipe's limit of tokens. */
const MOST_CHECKS = 60;

/** Share of a demonstration's steps that begin with a letter, each as often as any other. */
const LETTER_SHARE = 0.5;
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** A letter in place of `<step>`. */
const LETTER_SIGN = /[a-zA-Z](?=-?\d)/g;

/** The checks at the end of the steps. */
const TAIL = /(?:<ok>)+(?=<answer>)/;

export const verboseArithmetic: TaskFamily = {
  ...arithmetic,
  name: 'arithmetic with checks',
  parseSolution: (task, text) =>
    arithmetic.parseSolution(task, text.replace(TAIL, '').replace(LETTER_SIGN, '<step>')),
};

/** Checks, as many as a geometric distribution gives. */
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
