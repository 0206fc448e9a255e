/** A response and the same with one error planted: a pair that differs in one phrase. */
import { Random } from '../../core/random.ts';

/** Stands in no response: a text that holds it does not parse. */
const FOREIGN = '<sep>';

export interface Damaged {
  /** Words of the response, and of the one with an error. */
  readonly kept: readonly string[];
  readonly damaged: readonly string[];
  /** Place of the word in which they differ, from 1. */
  readonly at: number;
}

/**
 * Replaces a word by an earlier word; the choice follows from `seed`. Null for a response of fewer than two words, for one that does not parse (two
 * spaces enclose a word without letters), and for one that repeats a word already: it would not be the better of the two in what the pair is about.
 */
export function damage(response: string, seed: string): Damaged | null {
  const kept = response.split(' ');
  if (kept.length < 2 || kept.includes('') || new Set(kept).size < kept.length) return null;
  const random = new Random(`damage/${seed}`);
  const at = 1 + random.int(kept.length - 1);
  const again = kept[random.int(at)]!;
  return { kept, damaged: kept.map((word, i) => (i === at ? again : word)), at };
}

/**
 * Puts a tag in place of a word, by which the response loses its form; the choice follows from `seed`. Nothing is asked of the response but that it
 * parses and has two words. Null for one that has not.
 */
export function unformed(response: string, seed: string): Damaged | null {
  const kept = response.split(' ');
  if (kept.length < 2 || kept.includes('')) return null;
  const at = 1 + new Random(`unformed/${seed}`).int(kept.length - 1);
  return { kept, damaged: kept.map((word, i) => (i === at ? FOREIGN : word)), at };
}
