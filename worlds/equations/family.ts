/**
 * Linear equations with a whole solution. A solution with steps isolates the term with x, then x. This is not algebra in general: the form is fixed,
 * so that each step has a root of its own and can be checked without the others.
 *
 *     proposer  <propose>eq:                  ->  3*x-4=11<eos>
 *     solver    <solve>3*x-4=11<sep>          ->  <step>3*x=15<step>x=5<answer>5<eos>, or <answer>5<eos>
 *     judge     <judge>3*x-4=11<sep>solution<sep> ->  <ok><ok><right><eos>
 */
import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import type { Judgment, ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import {
  INTEGER,
  isInteger,
  parseJudgment,
  parseWorked,
  STOP,
  withoutStop,
  writeSolution,
} from '../worked.ts';

/** a*x+b=c */
export interface Equation {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/** How hard the drawn equations are: bounds on |a|, |b| and |x|. */
export interface EquationRange {
  readonly coefficient: number;
  readonly constant: number;
  readonly root: number;
}

const DEFAULT_RANGE: EquationRange = { coefficient: 9, constant: 20, root: 12 };
const HELD_OUT_COUNT = 300;
const NAME = 'equations';

const TASK = new RegExp(`^(-?[1-9])\\*x([+-])([1-9]\\d?)=(${INTEGER})$`);
const ISOLATED = new RegExp(`^(-?[1-9])\\*x=(${INTEGER})$`);
const SOLVED = new RegExp(`^x=(${INTEGER})$`);

export const writeEquation = ({ a, b, c }: Equation): string =>
  `${a}*x${b < 0 ? '-' : '+'}${Math.abs(b)}=${c}`;

/** The equation that a text states; null where it states none, has no whole root, or has a right side of more than three digits. */
export function parseEquation(text: string): Equation | null {
  const match = TASK.exec(text);
  if (!match) return null;
  const a = Number(match[1]);
  const b = Number(match[3]) * (match[2] === '-' ? -1 : 1);
  const c = Number(match[4]);
  return Math.abs(c) <= 999 && (c - b) % a === 0 ? { a, b, c } : null;
}

/** The exact x; `+ 0` turns -0 into 0. */
export const rootOf = ({ a, b, c }: Equation): number => (c - b) / a + 0;

/** The two exact lines from an equation to its root. */
export const equationSteps = (equation: Equation): [string, string] => [
  `${equation.a}*x=${equation.c - equation.b}`,
  `x=${rootOf(equation)}`,
];

const signed = (random: Random, bound: number) => (1 + random.int(bound)) * (random.bool() ? 1 : -1);

/** Any equation of a range, held out or not. */
function drawEquation(random: Random, range: EquationRange): string {
  const a = signed(random, Math.min(9, range.coefficient));
  const b = signed(random, Math.min(99, range.constant));
  const x = random.int(2 * range.root + 1) - range.root;
  return writeEquation({ a, b, c: a * x + b });
}

const isHeldOut = (task: string) => parseEquation(task) !== null && isHeldOutKey(NAME, task);

/** An equation that is not held out. */
export const randomEquation = (random: Random, range: EquationRange = DEFAULT_RANGE): string =>
  drawUntil(
    () => drawEquation(random, range),
    (task) => parseEquation(task) !== null && !isHeldOut(task),
  );

/** A line is right if it has the task's root: every line of a derivation must be equivalent to the task. */
function hasRoot(line: string, root: number): boolean {
  const isolated = ISOLATED.exec(line);
  if (isolated) return Number(isolated[2]) === Number(isolated[1]) * root;
  return Number(SOLVED.exec(line)?.[1]) === root;
}

function exactJudgment(task: string, solution: Solution): Judgment {
  const equation = parseEquation(task);
  const root = equation ? rootOf(equation) : Number.NaN;
  const steps = solution.steps.map((line) => hasRoot(line, root));
  return { steps, right: steps.every(Boolean) && Number(solution.answer) === root };
}

function parseSolution(_task: string, text: string): ParseResult<Solution> {
  const parsed = parseWorked(text, {
    step: (line, at) => (at === 0 ? ISOLATED : SOLVED).test(line),
    answer: isInteger,
  });
  return parsed.ok && parsed.value.steps.length === 1 ? invalid('partial-steps') : parsed;
}

function parseProposal(text: string): ParseResult<string> {
  const task = withoutStop(text);
  if (task === null || !TASK.test(task)) return invalid('off-grammar');
  return parseEquation(task) ? ok(task) : invalid('no-whole-root');
}

/** Where a wrong solution has its error: at a line, which the lines after it follow from, or in the answer alone. */
export type EquationFlaw = 'isolate' | 'divide' | 'answer';

/** A solution with steps that has one error, which every later line follows from. */
export function flawedEquation(random: Random, task: string, flaw: EquationFlaw): Solution {
  const equation = parseEquation(task);
  if (!equation) return { steps: [], answer: '0' };
  const miss = random.pick([-2, -1, 1, 2]);
  const root = rootOf(equation);
  const [isolated, solved] = equationSteps(equation);
  if (flaw === 'answer') return { steps: [isolated, solved], answer: String(root + miss) };
  const steps = flaw === 'divide' ? isolated : `${equation.a}*x=${equation.a * (root + miss)}`;
  return { steps: [steps, `x=${root + miss}`], answer: String(root + miss) };
}

export const equations: TaskFamily = {
  name: NAME,
  maxNew: { proposer: 14, solver: 34, judge: 5 },
  stop: STOP,
  workedPrefix: '<step>',
  random: (random) => randomEquation(random),
  heldOut: heldOutTasks(NAME, HELD_OUT_COUNT, (random) => drawEquation(random, DEFAULT_RANGE), isHeldOut),
  isHeldOut,
  // Digits to carry and signs to lose: where small models make errors.
  difficulty: (task) => (task.match(/\d/g)?.length ?? 0) + (task.match(/-/g)?.length ?? 0),
  proposerPrompt: () => '<propose>eq:',
  solverPrompt: (task) => `<solve>${task}<sep>`,
  judgePrompt: (task, solution) => `<judge>${task}<sep>${writeSolution(solution)}<sep>`,
  parseProposal,
  parseSolution,
  parseJudgment,
  answerIsExact: (task, solution) => {
    const equation = parseEquation(task);
    return equation !== null && Number(solution.answer) === rootOf(equation);
  },
  exactJudgment,
};
