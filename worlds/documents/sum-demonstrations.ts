/**
 * Demonstrations of an author of documents with sums, for a warm start that continues from `arithmetic-step-slips`. It is shown whole documents, and in
 * some of them a thought before a digit. Of the thoughts before sums four in ten go through all running totals, four stop after the first one, and the
 * others are of random digits; the digit after them is the document’s own all the same, so that a thought may be worth nothing. Held-out sums
 * are never shown.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP } from '../worked.ts';
import { drawPosition, drawSums, parsePosition, thoughtPrompt, workOut, writeThought } from './sums.ts';

/** Share of demonstrations that hold a thought; of these, share at digits that can be worked out. */
const THOUGHTS = 0.8;
const AT_SUMS = 0.8;
const SHARES = { whole: 0.4, first: 0.4, stray: 0.2 } as const;

/** One to four digits drawn at random. */
const strayThought = (random: Random): string[] =>
  Array.from({ length: 1 + random.int(4) }, () => String(random.int(10)));

function shownThought(random: Random, before: string): readonly string[] {
  const totals = workOut(before);
  const kind = Object.keys(SHARES)[random.weighted(Object.values(SHARES))];
  if (!totals || kind === 'stray') return strayThought(random);
  return kind === 'whole' ? totals : totals.slice(0, 1);
}

export function demonstrateSums(random: Random): Demonstration {
  if (!random.bool(THOUGHTS)) {
    const { text } = drawSums(random);
    return { role: 'author', prompt: text[0]!, completion: text.slice(1) + STOP };
  }
  const { before, next } = parsePosition(drawPosition(random, false, random.bool(AT_SUMS)));
  const completion = writeThought(shownThought(random, before)) + next + STOP;
  return { role: 'author', prompt: thoughtPrompt(before), completion };
}
