/** Places of two responses at which they are the same: what a comparison by the wrong words looks at. */
import { Random } from '../../core/random.ts';
import type { Damaged } from '../../worlds/style/planted.ts';

/** One for each of the two, drawn by the sample’s id. */
export function otherPlaces({ kept, at }: Damaged, sample: string): readonly [kept: number, damaged: number] {
  const random = new Random(`places/${sample}`);
  const others = kept.flatMap((_, i) => (i === at ? [] : [i]));
  return [random.pick(others), random.pick(others)];
}
