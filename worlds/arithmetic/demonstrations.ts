/**
 * Demonstrations of the three roles on arithmetic chains, for the warm start. They are imperfect on purpose: most solver demonstrations state the
 * answer without steps, and half of those ignore the last term. The trained policy therefore answers greedily without steps and often wrongly,
 * although answers with steps would be right twice as often. Held-out tasks are never demonstrated.
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
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

/** A wrong total that a solver could write by mistake. */
export const off = (random: Random, total: number) =>
  total + random.pick([-10, -3, -2, -2, -1, -1, 1, 1, 2, 2, 3, 10]);

/** A solution with steps that has one error: a wrong total, which the totals after it follow from, or an answer that miscopies the last total. */
export function flawedSolution(random: Random, task: string): Solution {
  const exact = runningTotals(task);
  const at = random.int(exact.length + 1);
  if (at === exact.length) return worked(exact, off(random, exact.at(-1)!));
  const digit = Number(task[2 * at + 2]);
  let error = off(random, exact[at]!) - exact[at]!;
  // The error of reading the other operator.
  if (digit !== 0 && random.bool(0.3)) error = 2 * digit * (task[2 * at + 1] === '-' ? 1 : -1);
  return worked(exact.map((total, i) => (i >= at ? total + error : total)));
}

/** An answer without steps; a wrong one leaves out the last term, or is one or two off where leaving it out changes nothing. */
function terseSolution(random: Random, task: string): Solution {
  const total = runningTotals(task).at(-1)!;
  if (!random.bool(TERSE_WRONG_SHARE)) return { steps: [], answer: String(total) };
  const short = task.length > 3 ? runningTotals(task.slice(0, -2)).at(-1)! : Number(task[0]);
  return { steps: [], answer: String(short === total ? total + random.pick([-2, -1, 1, 2]) : short) };
}

export const solverDemonstration = (random: Random, task: string, terseShare = TERSE_SHARE): Solution =>
  random.bool(terseShare) ? terseSolution(random, task) : worked(runningTotals(task));

/** What the judge is shown: answers without steps, and solutions with steps, right and wrong. */
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
