/** A parameter set that trains adapters alone: what a version holds, that it can be gone on from, and that rollouts agree with it. */
import { beforeAll, expect, test } from 'vitest';
import { playStages } from '../../core/play-stages.ts';
import { openRoundContext } from '../../core/round-context.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { openDevice } from '../../learner/device/device.ts';
import { type RoundToTrain, RoundTrainer } from '../../learner/train/round-trainer.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { readSafetensors } from '../../model/safetensors.ts';
import { bindingsOf } from '../../recipes/run-order.ts';
import { trio } from '../../recipes/trio/recipe.ts';

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

test('a version holds the weights with adapters folded in; what has none keeps its bits', () => {
  const [base, merged, adapters] = [
    seed['model.safetensors'],
    first['model.safetensors'],
    first['main.adapter.safetensors'],
  ].map((file) => readSafetensors(file!));
  let moved = 0;
  for (const [name, { shape, data }] of merged!) {
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
      expect(Math.abs(data[i]! - (before[i]! + 2 * added))).toBeLessThan(1e-6);
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
  expect(Math.max(...Object.values(held.report.roles).map(({ klToStart }) => klToStart))).toBeGreaterThan(
    1e-6,
  );
  for (const file of ['model', 'optimizer', 'main.adapter'] as const) {
    const name = `${file}.safetensors` as const;
    expect(Buffer.from(loaded.files[name]!).equals(Buffer.from(held.files[name]!)), name).toBe(true);
    expect(Buffer.from(held.files[name]!).equals(Buffer.from(first[name]!)), name).toBe(false);
  }
});

test('a set of whole weights cannot follow adapters', async () => {
  const sets = { ...recipe.sets, slow: { optimizer: null, average: { of: 'main', decay: 0.9 } } };
  await expect(
    new RoundTrainer().train({ ...(await work(1, seed)), recipe: { ...recipe, sets } }),
  ).rejects.toMatchObject({ code: 'recipe.average' });
});
