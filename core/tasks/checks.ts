/** Checks of labelled answers to arithmetic tasks, as a script writes them: what a generative verifier is taught by, and a verdict at a glance. */
import type { Random } from '../random.ts';
import { arithmetic, writeJudgment } from './arithmetic.ts';
import { GLANCE_SUFFIX } from './careless.ts';
import type { Judgment, Solution } from './family.ts';

/** Share of checks in which the script marks a step wrongly. */
const SLIPS = 0.1;

/** A worked answer and what it is said to be. */
export interface Labelled {
  readonly task: string;
  readonly solution: Solution;
  readonly right: boolean;
}

/**
 * A check that leads to the label, by a script that sees the exact totals; null where it slipped and the check does not. `blind` to the
 * totals it marks some step of a wrong answer.
 */
export function checkOf(
  { task, solution, right }: Labelled,
  random: Random,
  { blind = false }: { blind?: boolean } = {},
): Judgment | null {
  const steps = blind ? solution.steps.map(() => true) : [...arithmetic.truth(task, solution).steps];
  if (blind ? !right : random.bool(SLIPS)) {
    const at = random.int(steps.length);
    steps[at] = !steps[at];
  }
  return steps.every(Boolean) === right ? { steps, right } : null;
}

export const checkPrompt = ({ task, solution }: Omit<Labelled, 'right'>): string =>
  arithmetic.judgePrompt(task, solution);
export const glancePrompt = (item: Omit<Labelled, 'right'>): string => checkPrompt(item) + GLANCE_SUFFIX;

export const writeCheck = (check: Judgment): string => writeJudgment(check) + arithmetic.stop;
export const writeGlance = (right: boolean): string => writeCheck({ steps: [], right });
