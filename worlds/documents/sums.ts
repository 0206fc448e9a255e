/**
 * Documents in which some tokens can be worked out and others cannot: sums, whose running totals have one digit, and names with a number that follows
 * from nothing. A thought before a digit may go through the running totals.
 *
 *     document   sentences<eos>              3+4-2+1-5=1 zu5 9-3-4+2+4=8 fa0<eos>
 *     position   before?next                 3+4-2+1-5=1 zu5 9-3-4+2+4=?8             the digit to be predicted
 *     thought    before<step>             ->  6<step>2<step>4<step>8<answer>            and then the digit
 */
import type { Random } from '../../core/random.ts';
import { drawUntil, heldOutTasks, isHeldOutKey } from '../../core/recipe/split.ts';
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { runningTotals } from '../arithmetic/family.ts';
import { drawName } from './family.ts';

/** Ends a thought: the digit follows it. */
export const THOUGHT_END = '<answer>';
/** The fewest and the most operations of a sum. */
const FEWEST = 2;
const MOST = 4;
/** The tokens of the longest thought of all running totals, a separator or the end after each, and as many again. */
export const THOUGHT_TOKENS = 2 * (2 * MOST);

const SUMS = 2;
const NOISE = 2;
const SUM = new RegExp(`^\\d(?:[+-]\\d){${FEWEST},${MOST}}=$`);
const THOUGHT = /^\d(?:<step>\d)*$/;

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

/** The sentence that a text ends in: the part after its last space. */
const lastSentence = (before: string): string => before.slice(before.lastIndexOf(' ') + 1);

/** The running totals of the sum that the text ends in, one for each operation; null where it ends in no sum, or a total is not one digit. */
export function workOut(before: string): readonly string[] | null {
  const sum = lastSentence(before);
  if (!SUM.test(sum)) return null;
  const totals = runningTotals(sum.slice(0, -1));
  return totals.every((total) => total >= 0 && total <= 9) ? totals.map(String) : null;
}

export const isComputable = (task: string): boolean => workOut(parsePosition(task).before) !== null;

/** What a thought says, as it was written with its end. Reasons: off-grammar. */
export function parseThought(text: string): ParseResult<readonly string[]> {
  const body = text.endsWith(THOUGHT_END) ? text.slice(0, -THOUGHT_END.length) : '';
  return THOUGHT.test(body) ? ok(body.split('<step>')) : invalid('off-grammar');
}

export const thoughtPrompt = (before: string): string => `${before}<step>`;
export const writeThought = (steps: readonly string[]): string => steps.join('<step>') + THOUGHT_END;

/** By the oracle: does the thought go through all running totals? False where there is nothing to work out. */
export const thoughtIsExact = (before: string, steps: readonly string[]): boolean =>
  workOut(before)?.join() === steps.join();

const isHeldOutSum = (sum: string): boolean => isHeldOutKey('sums', sum);

/** A sum on the wanted side of the split. Each running total is drawn from the ten digits. */
const drawSum = (random: Random, heldOut: boolean): string =>
  drawUntil(
    () => {
      const totals = Array.from({ length: FEWEST + random.int(MOST - FEWEST + 1) + 1 }, () => random.int(10));
      const terms = totals.slice(1).map((total, i) => {
        const change = total - totals[i]!;
        return `${change < 0 || (change === 0 && random.bool()) ? '-' : '+'}${Math.abs(change)}`;
      });
      return `${totals[0]}${terms.join('')}=`;
    },
    (sum) => isHeldOutSum(sum) === heldOut,
  );

/** A document with sums on the wanted side of the split, and the positions of its digits that follow a sum or a name. */
export function drawSums(
  random: Random,
  heldOut = false,
): { readonly text: string; readonly positions: readonly Position[] } {
  const sentences = [
    ...Array.from({ length: SUMS }, () => drawSum(random, heldOut)),
    ...Array.from({ length: NOISE }, () => drawName(random)),
  ];
  let text = '';
  const positions = random.shuffle(sentences).map((sentence, i): Position => {
    const before = `${text}${i > 0 ? ' ' : ''}${sentence}`;
    const next = workOut(before)?.at(-1) ?? String(random.int(10));
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

/** Held out by the sum that is asked for: no document of the training side has it. */
export const isHeldOutPosition = (task: string): boolean =>
  isHeldOutSum(lastSentence(parsePosition(task).before));

/** Operations of the sum before the digit; 0 where there is nothing to work out. */
export const operationsOf = (task: string): number => workOut(parsePosition(task).before)?.length ?? 0;

const HELD_OUT_COUNT = 150;
/** Held-out digits that can be worked out. */
export const heldOutPositions = heldOutTasks(
  'sums',
  HELD_OUT_COUNT,
  (random, heldOut) => drawPosition(random, heldOut, true),
  isHeldOutPosition,
);
