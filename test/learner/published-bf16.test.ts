/** Weights and adapters that are published in bfloat16: training goes on in float32, whether or not the sets were loaded from their files between. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { Device } from '../../learner/device/device.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { FrozenSets } from '../../learner/train/frozen-sets.ts';
import { folded, readAdapter } from '../../model/adapter.ts';
import { toBfloat16 } from '../../model/half.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors, readStored, writeSafetensors } from '../../model/safetensors.ts';
import { openSets, trainRound } from './held-rounds.ts';

const WEIGHTS = 'model.safetensors';
const OPTIMIZER = 'optimizer.safetensors';
const ADAPTER = 'main.adapter.safetensors';
const BF16 = { publish: 'bf16' } as const;

let device: Device;
let start: VersionFiles;
/** Two rounds in float32. */
let whole: [VersionFiles, VersionFiles];
beforeAll(async () => {
  device = await openDevice({ device: 'cpu', threads: 1 });
  start = await readPolicyFolder('models/arithmetic-base');
  const sets = openSets(start);
  const first = await trainRound(device, sets, 1);
  whole = [first, await trainRound(device, sets.as(first), 2)];
});
afterAll(() => device.close());

/** The file with every number rounded to bfloat16. */
const rounded = (file: Uint8Array) => writeSafetensors(readSafetensors(file), 'BF16');
const same = (a: Uint8Array | undefined, b: Uint8Array | undefined) =>
  Buffer.from(a!).equals(Buffer.from(b!));

test.each([{}, { moments: 'int8' }] as const)(
  'training is that of float32, and the file half as large (%o)',
  async (kept) => {
    const settings = { ...BF16, ...kept };
    const sets = openSets(start, settings);
    const first = await trainRound(device, sets, 1);
    expect(same(first[WEIGHTS], rounded(whole[0][WEIGHTS]!))).toBe(true);
    for (const { dtype } of readStored(first[WEIGHTS]!).values()) expect(dtype).toBe('BF16');
    const held = await trainRound(device, sets.as(first), 2);
    const loaded = await trainRound(device, openSets(first, settings, start), 2);
    for (const file of [WEIGHTS, OPTIMIZER] as const) expect(same(held[file], loaded[file]), file).toBe(true);
    if ('moments' in kept) return;
    expect(same(loaded[WEIGHTS], rounded(whole[1][WEIGHTS]!))).toBe(true);
    // A run without the setting goes on with the float32 weights, too, and keeps them in the weights' file.
    const back = await trainRound(device, openSets(first, {}, start), 2);
    expect(same(back[WEIGHTS], whole[1][WEIGHTS])).toBe(true);
    expect(same(back[OPTIMIZER], whole[1][OPTIMIZER])).toBe(true);
  },
);

test.each([{}, { moments: 'int8' }] as const)(
  'an adapter is trained as in float32, and its file is half as large (%o)',
  async (kept) => {
    const rank = { rank: 4, alpha: 8 };
    const exact = openSets(start, kept, start, rank);
    const first = await trainRound(device, exact, 1);
    const second = await trainRound(device, exact.as(first), 2);
    const settings = { ...BF16, ...kept };
    const sets = openSets(start, settings, start, rank);
    const half = await trainRound(device, sets, 1);
    const [whole, file] = [first[ADAPTER]!, half[ADAPTER]!];
    expect(half[WEIGHTS]).toBe(start[WEIGHTS]);
    expect(file.length).toBeLessThan(0.55 * whole.length);
    // The values are those of training in float32, rounded; alpha stands in the file.
    const [wanted, published] = [readAdapter(whole)!, readAdapter(file)!];
    expect(published.alpha).toBe(8);
    for (const [name, { data }] of wanted.tensors)
      expect(toBfloat16(published.tensors.get(name)!.data), name).toEqual(toBfloat16(data));
    for (const { dtype } of readStored(file).values()) expect(dtype).toBe('BF16');
    // The second round goes on with the float32 values, from memory and from the files.
    const held = await trainRound(device, sets.as(half), 2);
    const loaded = await trainRound(device, openSets(half, settings, start, rank), 2);
    for (const name of [ADAPTER, OPTIMIZER] as const) expect(same(held[name], loaded[name]), name).toBe(true);
    const back = await trainRound(device, openSets(half, kept, start, rank), 2);
    for (const name of [ADAPTER, OPTIMIZER] as const) expect(same(back[name], second[name]), name).toBe(true);
  },
);

test('a reference under an adapter has the published one folded in, and full training begins with it', async () => {
  const rank = { rank: 4, alpha: 8 };
  const first = await trainRound(device, openSets(start, BF16, start, rank), 1);
  const wanted = new Map(folded(readSafetensors(first[WEIGHTS]!), readAdapter(first[ADAPTER]!)));
  const frozen = new FrozenSets();
  const reference = await frozen.get('p', { set: 'main', version: 1 }, () => Promise.resolve(first));
  const { params } = await openSets(first, BF16, start).get('main');
  for (const found of [reference, params])
    for (const [name, { data }] of await found.toTensors())
      expect(data, name).toEqual(wanted.get(name)!.data);
  frozen.dispose();
});

test('what is a reference, or opened elsewhere, has the published weights', async () => {
  const first = await trainRound(device, openSets(start, BF16), 1);
  const frozen = new FrozenSets();
  const params = await frozen.get('p', { set: 'main', version: 1 }, () => Promise.resolve(first));
  const published = readSafetensors(first[WEIGHTS]!);
  for (const [name, { data }] of await params.toTensors()) expect(data).toEqual(published.get(name)!.data);
  frozen.dispose();
});

test('weights that were changed without their optimiser are gone on with as they are', async () => {
  const first = await trainRound(device, openSets(start, BF16), 1);
  const changed = { ...first, [WEIGHTS]: rounded(start[WEIGHTS]!) };
  const { params } = await openSets(changed, BF16).get('main');
  const name = 'model.embed_tokens.weight';
  const { data } = readSafetensors(changed[WEIGHTS]!).get(name)!;
  expect((await params.toTensors()).get(name)!.data).toEqual(data);
  const { params: exact } = await openSets(first, BF16).get('main');
  const trained = (await exact.toTensors()).get(name)!.data;
  expect(trained).toEqual(readSafetensors(whole[0][WEIGHTS]!).get(name)!.data);
  expect(toBfloat16(trained)).not.toEqual(toBfloat16(data));
});
