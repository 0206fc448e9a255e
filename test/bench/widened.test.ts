/** A policy that is widened for a benchmark: the same scores and the same draws, with more weights. */
import { expect, test } from 'vitest';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { widened } from './widened.ts';

test('zeros in the feed-forward layers change nothing but the work', async () => {
  const files = await readPolicyFolder('models/arithmetic-base');
  const { files: wide, parameters } = widened(files, 512);
  // 4 layers of 3 matrices, each with 512 − 176 further rows or columns of 64.
  expect(parameters).toBe(191_616 + 4 * 3 * (512 - 176) * 64);
  const made = [];
  for (const [version, from] of [files, wide].entries()) {
    const policy = await openVersion(nodeEngines, { name: 'any', version, engine: 'kernels-plain' }, from);
    const prompts = [{ ids: [1, 5, 6, 7], sampleIds: ['a', 'b', 'c'] }];
    const [drawn] = await policy.generate(prompts, { maxNew: 12, temperature: 1, stop: [] });
    const [scores] = await policy.score([[1, 5, 6, 7, 3, 9, 12]]);
    await policy.dispose();
    made.push({ ids: drawn!.map(({ ids }) => ids), logprobs: scores!.logprobs });
  }
  const [before, after] = made;
  expect(after!.ids).toEqual(before!.ids);
  for (const [t, x] of after!.logprobs.entries()) expect(x).toBeCloseTo(before!.logprobs[t]!, 5);
});
