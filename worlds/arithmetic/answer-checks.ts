/**
 * Checks of labelled answers to arithmetic tasks, written by a script: demonstrations for a generative verifier, and for a verdict without a check. A
 * check does the sums again and states the last total, whether the answer equals it (`=`) or not (`!`), and the verdict:
 *
 *     check   <judge>3+4-9<sep>-3=<sep>          ->  <step>7<step>-2<answer>-2!<wrong><eos>
 *     glance  <judge>3+4-9<sep>-3=<sep><answer>  ->  <wrong><eos>
 */
import type { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { off } from './demonstrations.ts';
import { arithmetic, runningTotals, writeJudgment, writeSolution } from './family.ts';
import { answerPrompt } from './ratings.ts';
import { GLANCE_SUFFIX } from './step-slips.ts';

/** Share of checks in which the script gets a total wrong and carries the error on to the totals after it. */
const SLIPS = 0.1;
/** Tokens of a step in a check: tag, sign, two digits. */
const STEP_TOKENS = 4;
const LONGEST_TASK = 5;
/** Longest check in tokens: its steps, the last total again with its sign, the verdict and the stop. */
export const CHECK_TOKENS = (LONGEST_TASK + 1) * STEP_TOKENS + 3;

/** An answer with its label: whether it is right. */
export interface Labelled {
  readonly task: string;
  readonly solution: Solution;
  readonly right: boolean;
}

export interface Check {
  /** Labels as the exact checker gives them. */
  readonly totals: readonly string[];
  readonly right: boolean;
}

function scriptedTotals(task: string, random: Random): string[] {
  const exact = runningTotals(task);
  if (!random.bool(SLIPS)) return exact.map(String);
  const at = random.int(exact.length);
  const error = off(random, 0);
  return exact.map((total, i) => String(i < at ? total : total + error));
}

/** A check that leads to the label, by a script that does the sums; null where the sums do not lead to it. */
export function checkOf({ task, solution, right }: Labelled, random: Random): Check | null {
  const totals = scriptedTotals(task, random);
  return (totals.at(-1) === solution.answer) === right ? { totals, right } : null;
}

export const checkPrompt = ({ task, solution }: Omit<Labelled, 'right'>): string =>
  answerPrompt(task, solution.answer);
export const glancePrompt = (item: Omit<Labelled, 'right'>): string => checkPrompt(item) + GLANCE_SUFFIX;

export const writeGlance = (right: boolean): string => writeJudgment({ steps: [], right }) + arithmetic.stop;
export const writeCheck = ({ totals, right }: Check): string =>
  writeSolution({ steps: totals, answer: `${totals.at(-1)}${right ? '=' : '!'}` }) + writeGlance(right);
