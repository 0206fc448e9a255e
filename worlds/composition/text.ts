/**
 * How the world `composition` writes. The letters that are read stand the same distance before the letters that are written in a question and in every
 * step, so that a function which was learnt alone applies at each step; what is left to learn is which function comes next, and when to stop.
 *
 *     question   What is f07 of f12 of bdca?
 *     solution   f12 gives acdb. f07 gives bdca. Answer: bdca
 *     read-out   Read out f07 of f12 of bdca?    f12 keeps bdca. f07 keeps bdca. Answer: bdca
 */
import { invalid, ok, type ParseResult, type Solution } from '../../core/recipe/task-family.ts';
import { withoutStop } from '../worked.ts';
import { FUNCTIONS, LENGTH, LETTERS } from './functions.ts';

export const START = '<start>';
/** The words of the texts, as the tokenizer has them. */
export const WORDS = [
  'What is ',
  'Read out ',
  'Write a task: ',
  'Check ',
  ' of ',
  '? ',
  ' gives ',
  ' keeps ',
  '. ',
  'Answer: ',
] as const;
export const VERDICTS = ['<ok>', '<bad>', '<right>', '<wrong>'] as const;

/** A task: functions that are called, the outermost first, and the string that the innermost is applied to. */
export interface Composition {
  readonly calls: readonly string[];
  readonly text: string;
}

/** Most calls of a task. */
export const DEEPEST = 8;

const CALL = `(?:${FUNCTIONS.join('|')})`;
const TEXT = `[${LETTERS}]{${LENGTH}}`;
const TASK = new RegExp(`^(?:${CALL} of ){1,${DEEPEST}}${TEXT}$`);
const STEP = `${CALL} gives ${TEXT}`;
const SOLUTION = new RegExp(`^((?:${STEP}\\. )*)Answer: (${TEXT})$`);

/** `f07 of f12 of bdca`. */
export const writeTask = ({ calls, text }: Composition): string => [...calls, text].join(' of ');

/** The inverse of `writeTask`; null where the text is no task. */
export function readTask(task: string): Composition | null {
  if (!TASK.test(task)) return null;
  const parts = task.split(' of ');
  return { calls: parts.slice(0, -1), text: parts.at(-1)! };
}

export const ask = (verb: 'What is' | 'Read out', task: string): string => `${START}${verb} ${task}? `;

export const writeSolution = ({ steps, answer }: Solution): string =>
  `${steps.map((step) => `${step}. `).join('')}Answer: ${answer}`;

/** Steps may be wrong, too few or too many; each must be a call and a string. */
export function parseSolution(text: string): ParseResult<Solution> {
  const body = withoutStop(text);
  const match = body === null ? null : SOLUTION.exec(body);
  if (!match) return invalid('off-grammar');
  return ok({ steps: match[1]!.split('. ').slice(0, -1), answer: match[2]! });
}
