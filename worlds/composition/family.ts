/**
 * Compositions of opaque functions (functions.ts) on short strings: a world in which a policy knows every part, and training can teach it to put them
 * together. A task is `f07 of f12 of bdca`; its depth is the number of calls.
 *
 *     proposer  Write a task:                                 ->  f07 of f12 of bdca
 *     solver    What is f07 of f12 of bdca?                   ->  f12 gives acdb. f07 gives bdca. Answer: bdca
 *     judge     Check f07 of f12 of bdca? f12 gives acdb. …   ->  (<ok>|<bad>) a step, (<right>|<wrong>)
 *
 * A step is right if it makes the next call and the string follows from the one before it, so that an error is marked once. Three things are held out:
 * one string in eight, one sequence of calls in eight, and every depth beyond DEEPEST_TRAINED.
 */
import type { Random } from '../../core/random.ts';
import {
  drawUntil,
  type EvaluationTasks,
  HELD_OUT,
  heldOutTasks,
  isHeldOutKey,
} from '../../core/recipe/split.ts';
import type { Judgment, ParseResult, Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { parseJudgment, STOP, withoutStop } from '../worked.ts';
import { apply, FUNCTIONS, LENGTH, LETTERS, NESTED } from './functions.ts';
import { ask, DEEPEST, parseSolution, readTask, START, writeSolution, writeTask } from './text.ts';

const NAME = 'composition';
const HELD_OUT_SHARE = 1 / 8;
/** A deeper task is for measurement only. */
export const DEEPEST_TRAINED = 5;
/** Held-out tasks of each depth from 1 to DEEPEST_TRAINED + 1. */
const HELD_OUT_PER_DEPTH = 32;

/** Tokens of a solution: a call, ` gives `, the string and `. ` a step, then `Answer: `, the string and the stop. */
const solutionTokens = (depth: number) => depth * (LENGTH + 3) + LENGTH + 2;

/** The string after each call, the innermost first: `f07 of f12 of bdca` -> [f12 of bdca, f07 of that]. */
export function values(task: string): string[] {
  const { calls, text } = readTask(task)!;
  const out: string[] = [];
  for (const call of [...calls].reverse()) out.push(apply(call, out.at(-1) ?? text));
  return out;
}

/** The worked solution: one step a call. */
export function exactSolution(task: string): Solution {
  const { calls } = readTask(task)!;
  const reached = values(task);
  return {
    steps: [...calls].reverse().map((call, i) => `${call} gives ${reached[i]!}`),
    answer: reached.at(-1)!,
  };
}

/** The functions that a task nests, in their order; its string left out. */
export const chainOf = (task: string): string => readTask(task)?.calls.join(' ') ?? '';
export const depthOf = (task: string): number => readTask(task)?.calls.length ?? 0;

export const isHeldOutString = (text: string): boolean =>
  isHeldOutKey(`${NAME}/string`, text, HELD_OUT_SHARE);
const isHeldOutCalls = (calls: readonly string[]) =>
  calls.length > DEEPEST_TRAINED ||
  (calls.length > 1 && isHeldOutKey(`${NAME}/calls`, calls.join(), HELD_OUT_SHARE));

/** Never trained on, for its string or for its calls. */
function isHeldOut(task: string): boolean {
  const parsed = readTask(task);
  return parsed !== null && (isHeldOutString(parsed.text) || isHeldOutCalls(parsed.calls));
}

/** Does a way that stops early, or that applies the outermost function alone, give the answer too? Such a task would pay for not composing. */
function hasShortcut(task: string): boolean {
  const { calls, text } = readTask(task)!;
  const reached = [text, ...values(task)];
  const answer = reached.pop()!;
  return reached.includes(answer) || (calls.length > 1 && apply(calls[0]!, text) === answer);
}

export const randomString = (random: Random): string =>
  Array.from({ length: LENGTH }, () => random.pick([...LETTERS])).join('');

/** Distinct functions in random order, and a random string of at least two letters. */
export const randomCalls = (random: Random, depth: number, functions: readonly string[]): string =>
  writeTask({
    calls: random.shuffle(functions).slice(0, depth),
    text: drawUntil(
      () => randomString(random),
      (text) => new Set(text).size > 1,
    ),
  });

/**
 * A task without a shortcut, of distinct functions. One for training has neither a held-out string nor held-out calls; one for measurement has a held-out
 * string, and held-out calls where it has several.
 */
export const randomTask = (
  random: Random,
  depth: number,
  functions: readonly string[] = FUNCTIONS,
  forMeasurement = false,
): string =>
  drawUntil(
    () => randomCalls(random, depth, functions),
    (task) => {
      const { calls, text } = readTask(task)!;
      const isOnSide =
        isHeldOutString(text) === forMeasurement && (depth === 1 || isHeldOutCalls(calls) === forMeasurement);
      return isOnSide && !hasShortcut(task);
    },
  );

const exams = new Map<string, (asked?: EvaluationTasks) => readonly string[]>();

/** Distinct tasks of one depth and of some functions for measurement, the same in every process. */
export function examOf(
  depth: number,
  functions: readonly string[],
  asked?: EvaluationTasks,
): readonly string[] {
  const key = `${NAME}/${depth}/${functions.join()}`;
  let exam = exams.get(key);
  if (!exam) {
    exam = heldOutTasks(key, 256, (random, side) => randomTask(random, depth, functions, side), isHeldOut);
    exams.set(key, exam);
  }
  return exam(asked);
}

function parseProposal(text: string): ParseResult<string> {
  const task = withoutStop(text);
  if (task === null || !readTask(task)) return invalid('off-grammar');
  // A held-out task is told from the others by the caller; those that are too deep are no tasks at all.
  if (depthOf(task) > DEEPEST_TRAINED) return invalid('too-long');
  return hasShortcut(task) ? invalid('gives-away') : ok(task);
}

/** Tasks of every depth in turn, of functions that the warm start showed nested; on the held-out side there is one depth that is never trained. */
function heldOut({ heldOut: side, most } = HELD_OUT): readonly string[] {
  const deepest = DEEPEST_TRAINED + Number(side);
  const count = Math.min(HELD_OUT_PER_DEPTH * deepest, most);
  const byDepth = Array.from({ length: deepest }, (_, i) =>
    examOf(i + 1, NESTED, { heldOut: side, most: Math.ceil((count - i) / deepest) }),
  );
  return Array.from({ length: count }, (_, i) => byDepth[i % deepest]![Math.floor(i / deepest)]!);
}

/** Nothing is right of a text that is no task. */
function exactJudgment(task: string, { steps, answer }: Solution): Judgment {
  const { calls, text } = readTask(task) ?? { calls: [], text: '' };
  const verdicts = steps.map((step, i) => {
    const call = calls.at(-1 - i);
    const before = i === 0 ? text : steps[i - 1]!.slice(-LENGTH);
    return call !== undefined && step === `${call} gives ${apply(call, before)}`;
  });
  const arrives = steps.length > 0 && steps.length === calls.length && steps.at(-1)!.endsWith(` ${answer}`);
  return { steps: verdicts, right: arrives && verdicts.every(Boolean) };
}

export const composition: TaskFamily = {
  name: NAME,
  maxNew: {
    proposer: 2 * (DEEPEST_TRAINED + 1) + LENGTH + 1,
    solver: solutionTokens(DEEPEST_TRAINED + 1) + 8,
    judge: DEEPEST + 2,
  },
  stop: STOP,
  workedPrefix: '',
  random: (random) => randomTask(random, 1 + random.int(DEEPEST_TRAINED)),
  heldOut,
  isHeldOut,
  difficulty: depthOf,
  proposerPrompt: () => `${START}Write a task: `,
  solverPrompt: (task) => ask('What is', task),
  judgePrompt: (task, solution) => `${START}Check ${task}? ${writeSolution(solution)}. `,
  parseProposal,
  parseSolution: (_task, text) => parseSolution(text),
  parseJudgment,
  answerIsExact: (task, { answer }) => readTask(task) !== null && answer === values(task).at(-1),
  exactJudgment,
};
