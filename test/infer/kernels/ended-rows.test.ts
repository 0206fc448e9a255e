/** A row that has ended leaves the batch: later turns compute only the rows that go on. */
import { expect, test, vi } from 'vitest';
import { Decoder } from '../../../infer/kernels/decoder.ts';
import { REFS } from '../../../infer/kernels/forms.ts';
import { createKernelPolicy } from '../../../infer/kernels/kernel-policy.ts';
import { loadBuilds } from '../../../infer/kernels/node-builds.ts';
import { randomTensors, smallConfig } from '../../model/checkpoints.ts';

test('each turn computes as many rows as have not ended', async () => {
  const config = smallConfig({ num_hidden_layers: 1 });
  const ref = { name: 'p', version: 0, ...REFS.plain };
  const policy = createKernelPolicy(loadBuilds(), ref, config, randomTensors(config));
  const run = vi.spyOn(Decoder.prototype, 'run');
  const stop = Array.from({ length: 12 }, (_, id) => id);
  const sampleIds = Array.from({ length: 20 }, (_, i) => `s${i}`);
  // Prompts of one token have nothing to be read beforehand, so that every pass is a turn.
  const prompts = [
    { ids: [20], sampleIds },
    { ids: [30], sampleIds },
  ];
  const out = (await policy.generate(prompts, { maxNew: 15, temperature: 1, stop })).flat();
  const rows = run.mock.calls.map(([, ids]) => ids.length);
  run.mockRestore();
  const longest = Math.max(...out.map(({ ids }) => ids.length));
  const going = Array.from(
    { length: longest },
    (_, turn) => out.filter(({ ids }) => ids.length > turn).length,
  );
  expect(rows).toEqual(going);
  expect(going[0]).toBe(40);
  expect(going.at(-1)).toBeLessThan(20);
});
