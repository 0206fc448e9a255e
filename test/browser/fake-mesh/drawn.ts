/** What all parts of the fake mesh share: a fixed moment, a hostile text, and curves that look like learning. */
import type { Random } from '../../../core/random.ts';

/** A fixed moment, so that pictures can be compared. */
export const BEGAN = Date.UTC(2026, 4, 4, 9, 30);

export const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&amp;';

/** From a to b, fast first, with a little noise. */
export function course(random: Random, from: number, to: number, share: number, noise = 0.02) {
  return from + (to - from) * (1 - Math.exp(-4 * share)) + noise * (random.float() - 0.5);
}
