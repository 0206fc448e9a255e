/** A parameter set that trains adapters alone: what a version holds, that it can be gone on from, and that all who sample fold it alike. */
import { beforeAll, expect, test } from 'vitest';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openStreamed, openVersion } from '../../infer/open-version.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { type RoundToTrain, RoundTrainer } from '../../learner/train/round-trainer.ts';
import { folded, readAdapter } from '../../model/adapter.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf } from '../../recipes/run-order.ts';

const trio = shipped.find('trio');

const adapter = { rank: 3, alpha: 6 };
const recipe = { ...trio, sets: { main: { ...trio.sets.main!, adapter } } };
const settings = {
  recipe: 'trio',
  seed: 7,
  policy: 'p',
  rewardFunction: 'mix',
  freeze: [],
  tasks: 6,
  groupSize: 4,
};

let seed: VersionFiles;
let first: VersionFiles;

/** The records of a round that starts from a version's weights. */
async function played(index: number, files: VersionFiles) {
  const round = roundOf(settings, bindingsOf(trio, settings), index, index - 1);
  const policy = await openVersion(nodeEngines, { name: 'p', version: index - 1 }, files);
  const tokenizer = tokenizerOf(seed, 'p');
  const recipeState = () => Promise.resolve(undefined);
  const records = await playStages(
    openRoundContext({ recipe: trio, round, tokenizer, recipeState, use: (_, work) => work(policy) }),
  );
  await policy.dispose();
  return { round, ...records };
}

const work = async (index: number, files: VersionFiles): Promise<RoundToTrain> => ({
  recipe,
  ...(await played(index, files)),
  parent: index - 1,
  next: index,
  load: (version) => Promise.resolve(version === 0 ? seed : first),
});

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  seed = await readPolicyFolder('models/arithmetic-base');
  first = (await new RoundTrainer().train(await work(1, seed))).files;
});

test('a version holds the base’s weights and the adapter; folded, what has no adapter keeps its bits', () => {
  expect(first['model.safetensors']).toBe(seed['model.safetensors']);
  const [base, adapters, moments] = [
    seed['model.safetensors'],
    first['main.adapter.safetensors'],
    first['optimizer.safetensors'],
  ].map((file) => readSafetensors(file!));
  expect(new Set([...moments!.keys()].filter((name) => name !== 'step'))).toEqual(
    new Set([...adapters!.keys()].flatMap((name) => [`mean.${name}`, `square.${name}`])),
  );
  let moved = 0;
  for (const [name, { shape, data }] of folded(base!, readAdapter(first['main.adapter.safetensors']!))) {
    const before = base!.get(name)!.data;
    const a = adapters!.get(name.replace('.weight', '.lora_A.weight'));
    const b = adapters!.get(name.replace('.weight', '.lora_B.weight'));
    expect(a !== undefined, name).toBe(/_proj\.weight$/.test(name));
    if (!a || !b) {
      expect(data, name).toEqual(before);
      continue;
    }
    const [out, width] = shape as [number, number];
    expect([a.shape, b.shape]).toEqual([
      [3, width],
      [out, 3],
    ]);
    // W + alpha / rank · B A, by its definition.
    for (let i = 0; i < out * width; i += 97) {
      const [row, column] = [Math.floor(i / width), i % width];
      const added = [0, 1, 2].reduce((sum, k) => sum + b.data[3 * row + k]! * a.data[k * width + column]!, 0);
      expect(data[i]!).toBe(Math.fround(before[i]! + 2 * added));
      if (data[i] !== before[i]) moved++;
    }
  }
  expect(moved).toBeGreaterThan(100);
});

test('rollouts with the folded weights agree with the learner’s adapters, and a crash costs nothing', async () => {
  const second = await work(2, first);
  const trainer = new RoundTrainer();
  await trainer.train(await work(1, seed));
  const held = await trainer.train(second);
  const loaded = await new RoundTrainer().train(second);
  expect(held.report.mismatch.mean).toBeLessThan(1e-4);
  expect(held.report.ratio.effectiveSampleShare).toBeGreaterThan(0.9999);
  expect(Math.max(...Object.values(held.report.roles).map(({ klToStart }) => klToStart!))).toBeGreaterThan(
    1e-6,
  );
  for (const file of ['model', 'optimizer', 'main.adapter'] as const) {
    const name = `${file}.safetensors` as const;
    expect(Buffer.from(loaded.files[name]!).equals(Buffer.from(held.files[name]!)), name).toBe(true);
    expect(Buffer.from(held.files[name]!).equals(Buffer.from(first[name]!)), name).toBe(file === 'model');
  }
});

test.each([{}, { engine: 'kernels' }, { engine: 'kernels', weights: 'int8' }] as const)(
  'files, a stream and a merged checkpoint give the same bits %o',
  async (how) => {
    const ref = { name: 'p', version: 1, ...how };
    const [config, weights, adapterBytes] = [
      first['config.json']!,
      first['model.safetensors']!,
      first['main.adapter.safetensors']!,
    ];
    const merged = writeSafetensors(new Map(folded(readSafetensors(weights), readAdapter(adapterBytes))));
    const opened = [
      await openVersion(nodeEngines, ref, first),
      await openVersion(nodeEngines, ref, { 'config.json': config, 'model.safetensors': merged }),
    ];
    if (ref.engine)
      opened.push(await openStreamed(nodeEngines, ref, config, chunks(weights), { adapter: adapterBytes }));
    const ids = [[5, 17, 3, 40, 8, 21, 2, 33]];
    const [whole, ...others] = await Promise.all(opened.map((policy) => policy.score(ids)));
    for (const other of others) expect(other).toEqual(whole);
    const base = await openVersion(nodeEngines, ref, seed);
    expect(await base.score(ids)).not.toEqual(whole);
    for (const policy of [...opened, base]) await policy.dispose();
  },
);

async function* chunks(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 70_001) yield bytes.subarray(at, at + 70_001);
}

test('a round after full training adds its adapter to the newest weights, and full training folds it in', async () => {
  const full = (await new RoundTrainer().train({ ...(await work(1, seed)), recipe: trio })).files;
  const load = (version: number) => Promise.resolve(version === 0 ? seed : full);
  const adapted = (await new RoundTrainer().train({ ...(await work(2, full)), load })).files;
  expect(adapted['model.safetensors']).toBe(full['model.safetensors']);
  const again = (await new RoundTrainer().train({ ...(await work(2, first)), recipe: trio })).files;
  expect(again).not.toHaveProperty(['main.adapter.safetensors']);
  expect(readSafetensors(again['optimizer.safetensors']!).has('mean.model.norm.weight')).toBe(true);
});

test('another rank than that of the adapter that is gone on with is refused by name', async () => {
  const sets = { main: { ...recipe.sets.main!, adapter: { rank: 4, alpha: 6 } } };
  await expect(
    new RoundTrainer().train({ ...(await work(2, first)), recipe: { ...recipe, sets } }),
  ).rejects.toMatchObject({ code: 'adapter.settings' });
});

test('a set of whole weights cannot follow adapters', async () => {
  const sets = { ...recipe.sets, slow: { optimizer: null, average: { of: 'main', decay: 0.9 } } };
  await expect(
    new RoundTrainer().train({ ...(await work(1, seed)), recipe: { ...recipe, sets } }),
  ).rejects.toMatchObject({ code: 'recipe.average' });
});

test('adapters that average others begin as those do', async () => {
  const slow = { optimizer: null, adapter, average: { of: 'main', decay: 0.75 } };
  const sets = { ...recipe.sets, slow };
  const { files } = await new RoundTrainer().train({ ...(await work(1, seed)), recipe: { ...recipe, sets } });
  const trained = readAdapter(files['main.adapter.safetensors']!)!.tensors;
  const averaged = readAdapter(files['slow.adapter.safetensors']!)!.tensors;
  // B begins at 0, so a quarter of the trained one; A moves from its random beginning by a step's length, which would else be another beginning.
  let [bs, as] = [0, 0];
  for (const [name, { data }] of trained) {
    const mine = averaged.get(name)!.data;
    if (name.includes('lora_B')) {
      for (let i = 0; i < data.length; i += 31) expect(mine[i]!).toBeCloseTo(data[i]! / 4, 7);
      bs += data.some((x) => x !== 0) ? 1 : 0;
    } else {
      for (let i = 0; i < data.length; i += 31) expect(Math.abs(mine[i]! - data[i]!)).toBeLessThan(2e-3);
      as++;
    }
  }
  expect(bs).toBe(28);
  expect(as).toBe(28);
});
