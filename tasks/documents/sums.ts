/**
 * Documents in which some tokens can be worked out and others cannot. Facts about five names come first, as in `family.ts`; then two sums over three of
 * the names, of which only the last digit is told, and two sentences on other names, whose digits follow from nothing. A thought before a digit may
 * look up the numbers and add them.
 *
 *     document   facts:sentences<eos>        be3 da7 ko2 mi5 tu1:be+ko-da=8 zu5 mi-tu+be=7 fa0<eos>
 *     position   before?next                 be3 da7 ko2 mi5 tu1:be+ko-da=?8          the digit to be predicted
 *     thought    before<step>             ->  3+2=5<step>5-7=8<answer>                  and then the digit
 */
import type { Random } from '../../core/random.ts';
import { invalid, ok, type ParseResult } from '../../core/task-family.ts';
import { drawFacts, type Fact, isHeldOutDocument, prefixOf, writeFacts } from './family.ts';

/** Ends a thought: the digit follows it. */
export const THOUGHT_END = '<answer>';
/** Operations of a whole thought and their tokens, separators and end included, and as many again. */
const OPERATIONS = 2;
export const THOUGHT_TOKENS = 4 * (3 * OPERATIONS);

const SUMS = 2;
const NOISE = 2;
const SUM = /^([a-z]{2})([+-])([a-z]{2})([+-])([a-z]{2})=$/;
const THOUGHT = /^\d[+-]\d=\d(?:<step>\d[+-]\d=\d)*$/;

/** The last digit of a sum or a difference, 0 … 9: 3-7 is 6, as 13-7. */
const lastDigit = (x: number): number => ((x % 10) + 10) % 10;
const applied = (x: number, sign: string, y: number): number => lastDigit(sign === '+' ? x + y : x - y);

/** A digit of a document with the text before it. */
export interface Position {
  readonly before: string;
  readonly next: string;
}

/** The digit is the last character of a position’s text, after a question mark. */
export const writePosition = ({ before, next }: Position): string => `${before}?${next}`;
export function parsePosition(task: string): Position {
  const at = task.lastIndexOf('?');
  return { before: task.slice(0, at), next: task.slice(at + 1) };
}

/**
 * The steps that lead to the digit after the text, where it can be worked out; null where it cannot. Numbers are looked up, and only last digits are
 * kept.
 */
export function workOut(
  before: string,
): { readonly steps: readonly string[]; readonly digit: string } | null {
  const [first = '', second = ''] = before.split(':');
  const sum = SUM.exec(second.slice(second.lastIndexOf(' ') + 1));
  if (!sum) return null;
  const numbers = new Map(first.split(' ').map((fact) => [fact.slice(0, 2), Number(fact[2])]));
  const [, a, plus, b, more, c] = sum;
  const [x, y, z] = [a, b, c].map((name) => numbers.get(name!));
  if (x === undefined || y === undefined || z === undefined) return null;
  const middle = applied(x, plus!, y);
  const digit = applied(middle, more!, z);
  return { steps: [`${x}${plus}${y}=${middle}`, `${middle}${more}${z}=${digit}`], digit: String(digit) };
}

export const isComputable = (task: string): boolean => workOut(parsePosition(task).before) !== null;

/** What a thought says, as it was written with its end. Reasons: off-grammar. */
export function parseThought(text: string): ParseResult<readonly string[]> {
  const body = text.endsWith(THOUGHT_END) ? text.slice(0, -THOUGHT_END.length) : '';
  return THOUGHT.test(body) ? ok(body.split('<step>')) : invalid('off-grammar');
}

export const thoughtPrompt = (before: string): string => `${before}<step>`;
export const writeThought = (steps: readonly string[]): string => steps.join('<step>') + THOUGHT_END;

/** By the oracle: does the thought look up the right numbers and add them rightly? False where there is nothing to work out. */
export const thoughtIsExact = (before: string, steps: readonly string[]): boolean =>
  workOut(before)?.steps.join() === steps.join();

const drawSum = (random: Random, facts: readonly Fact[]): string => {
  const [a, b, c] = random.shuffle(facts).map(({ name }) => name);
  return `${a}${random.pick(['+', '-'])}${b}${random.pick(['+', '-'])}${c}=`;
};

/** A document on the wanted side of the split, with the positions of its digits after the facts. */
export function drawSums(
  random: Random,
  heldOut = false,
): { readonly text: string; readonly positions: readonly Position[] } {
  const facts = drawFacts(random, heldOut);
  const known = new Set(facts.map(({ name }) => name));
  const sentences = [
    ...Array.from({ length: SUMS }, () => drawSum(random, facts)),
    ...Array.from(
      { length: NOISE },
      () => drawFacts(random).find(({ name }) => !known.has(name))?.name ?? 'xa',
    ),
  ];
  let text = `${writeFacts(facts)}:`;
  const positions = random.shuffle(sentences).map((sentence, i): Position => {
    const before = `${text}${i > 0 ? ' ' : ''}${sentence}`;
    const next = workOut(before)?.digit ?? String(random.int(10));
    text = before + next;
    return { before, next };
  });
  return { text, positions };
}

/** A position of a new document: in half of the cases one that can be worked out. */
export function drawPosition(random: Random, heldOut = false, computable = random.bool()): string {
  const { positions } = drawSums(random, heldOut);
  const wanted = positions.filter(({ before }) => (workOut(before) !== null) === computable);
  return writePosition(random.pick(wanted));
}

export const isHeldOutPosition = (task: string): boolean => isHeldOutDocument(prefixOf(task));
