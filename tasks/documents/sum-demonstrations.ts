/**
 * Demonstrations of an author of documents with sums, for a warm start that continues from `documents`. It is shown whole documents, and in some of them
 * a thought before a digit. Two thoughts in five work the digit out, the others look up other numbers or add them wrongly; the digit after them is the
 * document’s own all the same, so that a thought may be worth nothing. Held-out facts are never shown.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP } from '../worked.ts';
import { prefixOf, suffixOf } from './family.ts';
import { drawPosition, drawSums, parsePosition, thoughtPrompt, workOut, writeThought } from './sums.ts';

/** Share of demonstrations that hold a thought; of these, share at digits that can be worked out, and of these, share of thoughts that do so. */
const THOUGHTS = 0.5;
const AT_SUMS = 0.8;
const RIGHT = 0.4;

/** A step about digits that nobody looked up, right or wrong. */
const strayStep = (random: Random): string =>
  `${random.int(10)}${random.pick(['+', '-'])}${random.int(10)}=${random.int(10)}`;

export function demonstrateSums(random: Random): Demonstration {
  if (!random.bool(THOUGHTS)) {
    const { text } = drawSums(random);
    return { role: 'author', prompt: prefixOf(text), completion: suffixOf(text) + STOP };
  }
  const { before, next } = parsePosition(drawPosition(random, false, random.bool(AT_SUMS)));
  const exact = workOut(before)?.steps;
  const count = 1 + random.int(2);
  const steps = exact && random.bool(RIGHT) ? exact : Array.from({ length: count }, () => strayStep(random));
  return { role: 'author', prompt: thoughtPrompt(before), completion: writeThought(steps) + next + STOP };
}
