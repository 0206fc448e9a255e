/**
 * A small language over one list of whole numbers that doubles as a stack, its top last. Strict parsing and writing; what the
 * instructions do is in `interpreter.ts`.
 *
 *     program      1 to 8 instructions, separated by one space
 *     instruction  +k -k *k            on every element (k one digit)
 *                  >k <k               keep the elements greater, smaller than k
 *                  rev sort            reverse; ascending order
 *                  dup drop swap       the top elements: copy, remove, exchange
 *                  add sub mul         pop two, push one
 *                  sum len             replace the list by its sum; push its length
 *                  ( … )               repeat while there is a top and it is positive; counts once
 *     list         numbers separated by one space, top last; `_` when empty
 */
import type { ParseResult } from '../../core/recipe/task-family.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { INTEGER } from '../worked.ts';

export const WITH_DIGIT = ['+', '-', '*', '>', '<'] as const;
export const PLAIN = ['rev', 'sort', 'dup', 'drop', 'swap', 'add', 'sub', 'mul', 'sum', 'len'] as const;

export type Instruction =
  | { readonly op: (typeof WITH_DIGIT)[number]; readonly k: number }
  | { readonly op: (typeof PLAIN)[number] }
  /** `to` is the index of the partner. */
  | { readonly op: '(' | ')'; readonly to: number };

export type Program = readonly Instruction[];
export type List = readonly number[];

export const MAX_INSTRUCTIONS = 8;
/** Elements of a list a question may show; the interpreter's own bound is larger. */
export const MAX_SHOWN = 8;

const isPlain = (word: string): word is (typeof PLAIN)[number] => PLAIN.some((op) => op === word);
const digitOp = (word: string) => WITH_DIGIT.find((op) => word.length === 2 && word[0] === op);

/** The program a text means; reasons: off-grammar, unbalanced, too-long. */
export function parseProgram(text: string): ParseResult<Program> {
  // A program of eight instructions cannot be longer; this bounds the work on hostile text.
  if (text.length > MAX_INSTRUCTIONS * 7) return invalid('too-long');
  const program: Instruction[] = [];
  const open: number[] = [];
  for (const [at, word] of text.split(' ').entries()) {
    const op = digitOp(word);
    if (op && /\d/.test(word[1]!)) program.push({ op, k: Number(word[1]) });
    else if (isPlain(word)) program.push({ op: word });
    else if (word === '(') {
      open.push(at);
      program.push({ op: '(', to: -1 });
    } else if (word === ')') {
      const from = open.pop();
      if (from === undefined) return invalid('unbalanced');
      program[from] = { op: '(', to: at };
      program.push({ op: ')', to: from });
    } else return invalid('off-grammar');
  }
  if (open.length > 0) return invalid('unbalanced');
  return countInstructions(program) <= MAX_INSTRUCTIONS ? ok(program) : invalid('too-long');
}

/** Instructions of a program, a loop's two brackets counting as one. */
export const countInstructions = (program: Program): number => program.filter(({ op }) => op !== ')').length;

export const countLoops = (program: Program): number => program.filter(({ op }) => op === '(').length;

export const writeProgram = (program: Program): string =>
  program
    .map((instruction) => ('k' in instruction ? `${instruction.op}${instruction.k}` : instruction.op))
    .join(' ');

const LIST = new RegExp(`^${INTEGER}(?: ${INTEGER}){0,${MAX_SHOWN - 1}}$`);

/** A list of at most eight numbers of at most four digits. */
export function parseList(text: string): ParseResult<List> {
  if (text === '_') return ok([]);
  if (text.length > MAX_SHOWN * 7 || !LIST.test(text)) return invalid('off-grammar');
  const list = text.split(' ').map(Number);
  return list.every((value) => Math.abs(value) <= 9999) ? ok(list) : invalid('too-large');
}

export const writeList = (list: List): string => (list.length === 0 ? '_' : list.join(' '));
