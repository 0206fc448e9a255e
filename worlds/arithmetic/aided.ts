/**
 * Arithmetic chains for a solver that may be shown something besides its task: a draft of a solution, or a hint, which is the beginning of one. A
 * hinter writes hints from a reference solution, at three levels, each of which reveals more than the one before.
 *
 *     solver  <solve>3+4-9<sep>                              ->  <step>7<step>-2<answer>-2<eos>
 *     solver  <solve>3+4-9<sep>draft or hint<sep>            ->  the same
 *     hinter  <propose>3+4-9<sep>reference<sep>level<sep>    ->  <step>7<eos>
 *
 * In the warm start, later steps are more often wrong; half of the drafts are copied as they are and the sums of the others are done again; hints are
 * continued, and the last total of one hint in ten is wrong.
 */
import type { Random } from '../../core/random.ts';
import { invalid, ok, type ParseResult, type Solution } from '../../core/recipe/task-family.ts';
import { type Demonstration, freshTask, off } from './demonstrations.ts';
import { arithmetic, runningTotals, writeSolution } from './family.ts';

/** Levels of hints; the first reveals least. */
export const HINT_LEVELS = [1, 2, 3] as const;
export type HintLevel = (typeof HINT_LEVELS)[number];

/** Probability that the first total is wrong; it grows by the same amount with each further total. */
export const SLIP = 0.1;
/** Share of drafts that the solver copies as its answer. */
const KEPT_SHARE = 0.5;
/** Share of hints whose last total is wrong. */
const WRONG_HINTS = 0.1;
const SHARES = { alone: 0.4, draft: 0.3, hint: 0.2, write: 0.1 } as const;

const HINT = /^(?:<step>(?:0|-?[1-9]\d?))+$/;

/** How many totals of a task a hint reveals: a quarter of them per level, and never all. */
export const hintedSteps = (task: string, level: HintLevel): number => {
  const steps = arithmetic.difficulty(task);
  return Math.min(steps - 1, Math.ceil((level * steps) / 4));
};

/** A solver’s prompt with a draft or a hint beside the task. */
export const aidedPrompt = (task: string, aid: string): string =>
  `${arithmetic.solverPrompt(task)}${aid}<sep>`;

/** The exact solution of a task, which only a hinter is shown. */
export const referenceSolution = (task: string): Solution => {
  const steps = runningTotals(task).map(String);
  return { steps, answer: steps.at(-1)! };
};

export const hintPrompt = (task: string, level: HintLevel): string =>
  `<propose>${task}<sep>${writeSolution(referenceSolution(task))}<sep>${level}<sep>`;

/** The text of a solution’s first steps. */
export const beginning = (steps: readonly string[]): string => steps.map((step) => `<step>${step}`).join('');

/** The text of a hint: at least one total of the task, and not all of them. */
export function parseHint(task: string, text: string): ParseResult<string> {
  const hint = text.endsWith(arithmetic.stop) ? text.slice(0, -arithmetic.stop.length) : '';
  if (!HINT.test(hint)) return invalid('off-grammar');
  const told = hint.split('<step>').length - 1;
  return told < arithmetic.difficulty(task) ? ok(hint) : invalid('too-long');
}

/** The totals after those that are given. Each may be wrong, later ones more often, and an error is carried on to the totals after it. */
export function solvedWithSlips(random: Random, task: string, given: readonly string[] = []): Solution {
  const exact = runningTotals(task);
  let error = given.length ? Number(given.at(-1)) - exact[given.length - 1]! : 0;
  const steps = exact.map((total, i) => {
    if (i < given.length) return given[i]!;
    if (random.bool(SLIP * (i + 1))) error = off(random, total + error) - total;
    return String(total + error);
  });
  return { steps, answer: steps.at(-1)! };
}

function writtenHint(random: Random, task: string, level: HintLevel): string[] {
  const told = referenceSolution(task).steps.slice(0, hintedSteps(task, level));
  return random.bool(WRONG_HINTS) ? [...told.slice(0, -1), String(off(random, Number(told.at(-1))))] : told;
}

export function demonstrateAided(random: Random): Demonstration {
  const kind = (Object.keys(SHARES) as (keyof typeof SHARES)[])[random.weighted(Object.values(SHARES))]!;
  const { stop } = arithmetic;
  const task = freshTask(random, 2 + random.int(4));
  const solved = (prompt: string, solution: Solution): Demonstration => ({
    role: 'solver',
    prompt,
    completion: writeSolution(solution) + stop,
  });
  if (kind === 'alone') return solved(arithmetic.solverPrompt(task), solvedWithSlips(random, task));
  if (kind === 'draft') {
    const draft = solvedWithSlips(random, task);
    const solution = random.bool(KEPT_SHARE) ? draft : solvedWithSlips(random, task);
    return solved(aidedPrompt(task, writeSolution(draft)), solution);
  }
  const level = random.pick(HINT_LEVELS);
  const hint = writtenHint(random, task, level);
  if (kind === 'hint') return solved(aidedPrompt(task, beginning(hint)), solvedWithSlips(random, task, hint));
  return { role: 'hinter', prompt: hintPrompt(task, level), completion: beginning(hint) + stop };
}
