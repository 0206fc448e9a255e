/**
 * Long chains of sums, for verifiers of steps: with eight operators, and nearly one step in three wrong, right answers are rare, and an outcome says
 * little about where the error is. A step is right if it follows from the total before it, so that an error is marked once, at the step that made it.
 * The verifier is shown the steps and computes each sum again: it writes `=` where the sum equals the step, and `!` with the step where it does not.
 * Its verdict follows from these marks.
 *
 *     solver  <solve>3+4-9<sep>         ->  <step>7<step>-3<answer>-3<eos>
 *     judge   <judge>7=-3=<sep>3+4-9<sep> ->  <step>7=<step>-2!-3<wrong><eos>
 */
import type { Random } from '../../core/random.ts';
import { type Part, readTagsWith } from '../../core/recipe/reading.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import type { Judgment, ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { arithmetic, randomTask, runningTotals } from '../arithmetic/family.ts';
import { slippingSolution } from '../arithmetic/step-slips.ts';
import { INTEGER, isInteger, parseWorked, withoutStop, writeSolution } from '../worked.ts';

const NAME = 'chains';
/** Operators of a generated task; the warm start has shorter tasks, too. */
const OPERATORS = 8;
const SHORTEST = 4;
const TASK = new RegExp(`^\\d(?:[+-]\\d){${SHORTEST},${OPERATORS}}$`);
const HELD_OUT_COUNT = 200;
/** The text of any number of checks. */
export const CHECKS_TEXT = `(?:<step>${INTEGER}(?:=|!${INTEGER}))*`;
const JUDGMENT = new RegExp(`^(${CHECKS_TEXT})(<right>|<wrong>)$`);
const MARK = /^(.+)(?:(=)|!(.+))$/;
/** Tokens of a step: tag, sign and two digits. */
export const STEP_TOKENS = 4;

const operators = (task: string) => (task.length - 1) / 2;
const isHeldOut = (task: string) => isHeldOutKey(NAME, task);
const draw = (random: Random, fewest: number) =>
  randomTask(random, fewest + random.int(OPERATORS - fewest + 1));

/** A task that is not held out. */
export const freshChain = (random: Random, fewest = OPERATORS): string =>
  drawUntil(
    () => draw(random, fewest),
    (task) => !isHeldOut(task),
  );

function parseSolution(task: string, text: string): ParseResult<Solution> {
  const parsed = parseWorked(text, { step: isInteger, answer: isInteger });
  if (!parsed.ok) return parsed;
  const { steps, answer } = parsed.value;
  if (steps.length !== operators(task)) return invalid('partial-steps');
  return steps.at(-1) === answer ? parsed : invalid('miscopied');
}

/** What each step should be [steps]: the total before it, right or not, with the step’s own operand. */
export function sums(task: string, { steps }: Solution): number[] {
  return steps.map((_, i) => {
    const before = Number(i === 0 ? task[0] : steps[i - 1]);
    const digit = Number(task[2 * i + 2]);
    return before + (task[2 * i + 1] === '-' ? -digit : digit);
  });
}

function exactJudgment(task: string, solution: Solution): Judgment {
  const steps = sums(task, solution).map((sum, i) => sum === Number(solution.steps[i]));
  return { steps, right: steps.every(Boolean) };
}

/** The sums that a verifier computes, as text [steps]: each followed by `=` where the step equals it, and else by what the step says. */
export const writeChecks = ({ steps }: Solution, found: readonly string[]): string =>
  steps.map((step, i) => `<step>${found[i]}${found[i] === step ? '=' : `!${step}`}`).join('');

/** A verdict as text, from the sums that it computed [steps]. */
export const writeSums = (solution: Solution, found: readonly string[]): string =>
  writeChecks(solution, found) +
  (solution.steps.every((step, i) => found[i] === step) ? '<right>' : '<wrong>');

/**
 * For each step of a solution, whether it equals the sum that was computed. Reasons: verdict-count, miscopied (a mark that contradicts its sum, or
 * that misquotes the step).
 */
export function parseChecks({ steps }: Solution, text: string): ParseResult<boolean[]> {
  const marks = text.split('<step>').slice(1);
  if (marks.length !== steps.length) return invalid('verdict-count');
  const parts = marks.map((mark) => MARK.exec(mark)!);
  if (parts.some(([, sum, ok, quoted], i) => (ok ? sum !== steps[i] : quoted !== steps[i] || sum === quoted)))
    return invalid('miscopied');
  return ok(parts.map(([, , ok]) => ok !== undefined));
}

/** Reasons: off-grammar, contradiction, and those of its checks. */
function parseJudgment(solution: Solution, text: string): ParseResult<Judgment> {
  const match = JUDGMENT.exec(withoutStop(text) ?? '');
  if (!match) return invalid('off-grammar');
  const found = parseChecks(solution, match[1]!);
  if (!found.ok) return found;
  const right = match[2] === '<right>';
  return right === found.value.every(Boolean) ? ok({ steps: found.value, right }) : invalid('contradiction');
}

/** A verifier’s marks as the page shows them: `7=` accepts the step 7, and `-2!-3` computed -2 where the step says -3. */
export const chainMarks = (text: string): Part[] =>
  readTagsWith(text, (part) => {
    const match = part.kind === 'step' ? MARK.exec(part.text) : null;
    if (!match) return [part];
    const [, sum = '', approved, quoted] = match;
    return approved
      ? [{ kind: 'mark', text: sum, good: true }]
      : [{ kind: 'mark', text: `${sum}, not ${quoted}`, good: false }];
  });

export const chains: TaskFamily = {
  ...arithmetic,
  name: NAME,
  maxNew: {
    proposer: 2 * OPERATORS + 2,
    solver: STEP_TOKENS * (OPERATORS + 1) + 3,
    judge: 2 * STEP_TOKENS * OPERATORS + 3,
  },
  random: (random) => freshChain(random),
  heldOut: heldOutTasks(NAME, HELD_OUT_COUNT, (random) => draw(random, OPERATORS), isHeldOut),
  isHeldOut,
  difficulty: operators,
  // The task comes last, so that a check continues as a solution does. A number is followed by the mark that repeats it.
  judgePrompt: (task, { steps }) => `<judge>${steps.map((step) => `${step}=`).join('')}<sep>${task}<sep>`,
  parseProposal: (text) => {
    const task = withoutStop(text);
    return task !== null && TASK.test(task) ? ok(task) : invalid('off-grammar');
  },
  parseSolution,
  parseJudgment,
  answerIsExact: (task, solution) => Number(solution.answer) === runningTotals(task).at(-1),
  exactJudgment,
};

/**
 * Share of demonstrations that are checks; shares of wrong steps in the solver’s solutions, and in solutions that are checked, for each of which one
 * of three shares is drawn.
 */
const CHECKS = 0.7;
const SOLVER_SLIPS = 1 / 3;
const CHECKED_SLIPS = [0, 0.25, 0.5] as const;
/** Share of checks that copy every step instead of computing the sums. */
const LAZY = 0.45;

/**
 * A solver that makes many errors, and a verifier that can compute sums but copies the steps in nearly half of its checks. Its verdicts are of little
 * value at the start, so that training has something to improve.
 */
export function demonstrateChains(random: Random): Demonstration {
  const task = freshChain(random, SHORTEST);
  if (!random.bool(CHECKS)) {
    const solution = writeSolution(slippingSolution(random, task, SOLVER_SLIPS));
    return { role: 'solver', prompt: chains.solverPrompt(task), completion: solution + chains.stop };
  }
  const solution = slippingSolution(random, task, random.pick(CHECKED_SLIPS));
  const found = random.bool(LAZY) ? solution.steps : sums(task, solution).map(String);
  const completion = writeSums(solution, found) + chains.stop;
  return { role: 'judge', prompt: chains.judgePrompt(task, solution), completion };
}
