/**
 * Demonstrations of the three roles on arithmetic chains, for the warm start. They leave room to improve on purpose:
 * most solver demonstrations are terse and half of those forget the last term, so that greedy answers are terse and poor
 * although worked answers would be right twice as often. Held-out tasks are never demonstrated.
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/task-family.ts';
import type { Demonstration } from '../demonstration.ts';
import { demonstrateRole } from '../role-demonstrations.ts';
import { arithmetic, randomTask, runningTotals } from './family.ts';

export type { Demonstration } from '../demonstration.ts';

/** Share of the solver's demonstrations that give the answer without steps. */
const TERSE_SHARE = 0.56;
/** Share of terse demonstrations that are wrong. */
const TERSE_WRONG_SHARE = 0.5;
const ROLE_SHARES = { solver: 0.6, judge: 0.3, proposer: 0.1 } as const;

/** A task that is not held out. */
export function freshTask(random: Random, operators?: number): string {
  for (;;) {
    const task = randomTask(random, operators);
    if (!arithmetic.isHeldOut(task)) return task;
  }
}

const worked = (totals: readonly number[], answer = totals.at(-1)!): Solution => ({
  steps: totals.map(String),
  answer: String(answer),
});

/** A plausible wrong total. */
export const off = (random: Random, total: number) =>
  total + random.pick([-10, -3, -2, -2, -1, -1, 1, 1, 2, 2, 3, 10]);

/** A worked solution whose totals go wrong at one step and carry the error on, or whose answer miscopies the last total. */
export function flawedSolution(random: Random, task: string): Solution {
  const exact = runningTotals(task);
  const at = random.int(exact.length + 1);
  if (at === exact.length) return worked(exact, off(random, exact.at(-1)!));
  const digit = Number(task[2 * at + 2]);
  let error = off(random, exact[at]!) - exact[at]!;
  // As if the other operator had been read.
  if (digit !== 0 && random.bool(0.3)) error = 2 * digit * (task[2 * at + 1] === '-' ? 1 : -1);
  return worked(exact.map((total, i) => (i >= at ? total + error : total)));
}

/** A terse solution; a wrong one leaves out the last term, or misses by one or two where that changes nothing. */
function terseSolution(random: Random, task: string): Solution {
  const total = runningTotals(task).at(-1)!;
  if (!random.bool(TERSE_WRONG_SHARE)) return { steps: [], answer: String(total) };
  const short = task.length > 3 ? runningTotals(task.slice(0, -2)).at(-1)! : Number(task[0]);
  return { steps: [], answer: String(short === total ? total + random.pick([-2, -1, 1, 2]) : short) };
}

export const solverDemonstration = (random: Random, task: string, terseShare = TERSE_SHARE): Solution =>
  random.bool(terseShare) ? terseSolution(random, task) : worked(runningTotals(task));

/** What the judge is shown: terse answers, flawed and exact worked solutions. */
export function judgedSolution(random: Random, task: string): Solution {
  if (random.bool(0.4)) return terseSolution(random, task);
  return random.bool() ? flawedSolution(random, task) : worked(runningTotals(task));
}

export const demonstrate = (random: Random): Demonstration =>
  demonstrateRole(random, {
    family: arithmetic,
    shares: ROLE_SHARES,
    task: (from) => freshTask(from),
    solution: (from, task) => solverDemonstration(from, task),
    judged: judgedSolution,
  });
