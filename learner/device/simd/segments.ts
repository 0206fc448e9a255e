/**
 * Sums by segment in one pass over the rows. tfjs' own kernel makes a pass over all rows for each segment, which for the tokens of a
 * hundred sequences is slower than a whole layer.
 */
import { register, sizeOf } from './register.ts';

export function registerSegments(): void {
  register('UnsortedSegmentSum', ({ backend, inputs, number }) => {
    const { x, segmentIds } = inputs as Required<typeof inputs>;
    const count = number('numSegments');
    const rows = backend.view(x!);
    const ids = backend.view(segmentIds!);
    const width = sizeOf(x!) / Math.max(1, ids.length);
    const sums = new Float32Array(count * width);
    for (let row = 0; row < ids.length; row++) {
      const segment = ids[row]!;
      if (segment < 0 || segment >= count) continue; // dropped, as tfjs does
      for (let i = 0; i < width; i++) sums[segment * width + i]! += rows[row * width + i]!;
    }
    return backend.makeTensorInfo([count, ...x!.shape.slice(segmentIds!.shape.length)], 'float32', sums);
  });
}
