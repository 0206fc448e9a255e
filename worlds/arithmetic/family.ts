/**
 * Arithmetic chains: `digit((+|-)digit){1..5}`, evaluated left to right; the trace is the running totals.
 *
 *     proposer  <propose>                      ->  3+4-9<eos>
 *     solver    <solve>3+4-9<sep>              ->  (<step>total)* <answer>total<eos>     all running totals ("worked") or none ("terse")
 *     judge     <judge>3+4-9<sep>solution<sep> ->  (<ok>|<bad>) a step, (<right>|<wrong>), <eos>
 */
import { Random } from '../../core/random.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import type { Judgment, ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';

const TASK = /^\d(?:[+-]\d){1,5}$/;
const INTEGER = '(?:0|-?[1-9]\\d?)';
const SOLUTION = new RegExp(`^((?:<step>${INTEGER})*)<answer>(${INTEGER})<eos>$`);
const JUDGMENT = /^((?:<ok>|<bad>)*)(<right>|<wrong>)<eos>$/;
/** Shares of 1 … 5 operators among generated tasks. */
const OPERATOR_SHARES = [30, 30, 20, 12, 8];
const HELD_OUT_COUNT = 500;

/** Exact running totals, one an operator: '3+4-9' -> [7, -2]. */
export function runningTotals(task: string): number[] {
  let total = Number(task[0]);
  const totals: number[] = [];
  for (let i = 1; i < task.length; i += 2) {
    total += task[i] === '+' ? Number(task[i + 1]) : -Number(task[i + 1]);
    totals.push(total);
  }
  return totals;
}

export function randomTask(random: Random, operators = 1 + random.weighted(OPERATOR_SHARES)): string {
  let task = String(random.int(10));
  for (let i = 0; i < operators; i++) task += (random.bool() ? '+' : '-') + String(random.int(10));
  return task;
}

/** Tasks with 2, 3, 4, 5 operators in equal shares. */
function drawExam(seed: string, admits = (_task: string) => true): Set<string> {
  const random = new Random(seed);
  const tasks = new Set<string>();
  while (tasks.size < HELD_OUT_COUNT) {
    const task = randomTask(random, 2 + (tasks.size % 4));
    if (admits(task)) tasks.add(task);
  }
  return tasks;
}
let heldOut: Set<string> | undefined;
const heldOutSet = () => {
  heldOut ??= drawExam('arithmetic/held-out');
  return heldOut;
};
const isHeldOut = (task: string) => heldOutSet().has(task);

let pilot: Set<string> | undefined;
const pilotSet = () => {
  pilot ??= drawExam('arithmetic/pilot', (task) => !isHeldOut(task));
  return pilot;
};

export const writeSolution = (solution: Solution): string =>
  `${solution.steps.map((step) => `<step>${step}`).join('')}<answer>${solution.answer}`;

export const writeJudgment = (judgment: Judgment): string =>
  judgment.steps.map((ok) => (ok ? '<ok>' : '<bad>')).join('') + (judgment.right ? '<right>' : '<wrong>');

function parseSolution(task: string, text: string): ParseResult<Solution> {
  const match = SOLUTION.exec(text);
  if (!match) return invalid('off-grammar');
  const steps = match[1]!.split('<step>').slice(1);
  if (steps.length !== 0 && steps.length !== runningTotals(task).length) return invalid('partial-steps');
  return ok({ steps, answer: match[2]! });
}

function parseJudgment(solution: Solution, text: string): ParseResult<Judgment> {
  const match = JUDGMENT.exec(text);
  if (!match) return invalid('off-grammar');
  const steps = (match[1]!.match(/<ok>|<bad>/g) ?? []).map((tag) => tag === '<ok>');
  if (steps.length !== solution.steps.length) return invalid('verdict-count');
  const right = match[2] === '<right>';
  // The verdict must be consistent with the marks: a solution with a step marked bad cannot be judged right.
  if (right && steps.includes(false)) return invalid('contradiction');
  return ok({ steps, right });
}

function exactJudgment(task: string, solution: Solution): Judgment {
  const exact = runningTotals(task);
  const steps = solution.steps.map((step, i) => Number(step) === exact[i]);
  return { steps, right: steps.every(Boolean) && Number(solution.answer) === exact.at(-1) };
}

export const arithmetic: TaskFamily = {
  name: 'arithmetic',
  maxNew: { proposer: 12, solver: 26, judge: 8 },
  stop: '<eos>',
  workedPrefix: '<step>',
  random: (random) => randomTask(random),
  heldOut: ({ heldOut: side, most } = HELD_OUT) =>
    [...(side ? heldOutSet() : pilotSet())].slice(0, Math.min(HELD_OUT_COUNT, most)),
  isHeldOut,
  difficulty: (task) => (task.length - 1) / 2,
  proposerPrompt: () => '<propose>',
  solverPrompt: (task) => `<solve>${task}<sep>`,
  judgePrompt: (task, solution) => `<judge>${task}<sep>${writeSolution(solution)}<sep>`,
  parseProposal: (text) => {
    const task = text.endsWith('<eos>') ? text.slice(0, -5) : '';
    return TASK.test(task) ? ok(task) : invalid('off-grammar');
  },
  parseSolution,
  parseJudgment,
  answerIsExact: (task, solution) => Number(solution.answer) === runningTotals(task).at(-1),
  exactJudgment,
};
