/**
 * Recipes play through the Workers, queues, R2 and the learner, and come to the bytes of one process: some of them and a round or two in
 * `npm test`; every one, and as many rounds as it takes to train each of its policies, in `.ci/recipes`.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SMALLER_WEIGHTS } from '../../core/policy/policy.ts';
import { MAIN_SET, weightsFile } from '../../core/schema/policy.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { CHOSEN, chosenRecipes } from '../every-recipe/chosen.ts';
import { FIRST_TRAINED } from '../every-recipe/first-trained.ts';
import { NIGHT } from '../night.ts';
import { openPlaying, type Playing } from './playing.ts';

const ttrl = shipped.find('ttrl');

const recipes = chosenRecipes();
let playing: Playing;
beforeAll(async () => {
  const starts = [ttrl, ...recipes].map(({ startPolicy }) => startPolicy);
  playing = await openPlaying(['arithmetic-base', ...starts]);
});
afterAll(() => playing.stop());

/** Recipes that sample with ONNX Runtime here; the others sample with the kernels, in a quarter of the time. */
const WITH_ONNX = ['trio', 'ragen'];

const HEAP_LIMIT = 64 * 2 ** 20;

/** Recipes that train nothing: their versions are those they began with. */
const UNTRAINED = ['cosplay'];

/** The second round samples with what the first has trained. Some recipes train what they are about later: `.ci/recipes` waits for it. */
const ROUNDS = 2;
const isWhole = process.env[CHOSEN] !== undefined;

/** Recipes that find something to learn in two tasks; the others need four. */
const TWO_TASKS = [
  'genrm',
  'co-reward',
  'sar',
  'rlsp',
  'mae',
  'self-rewarding',
  'dapo',
  'spine',
  'rise',
  'one-shot',
  'ttrl',
  'stp',
  'scol',
  'ssr-swe',
  'tango',
  'dsmath-v2',
  'qwen-prm',
  'aprm',
  'verifier-training',
  'spark',
  'sdpo',
  'trace',
  'srpo-route',
  'fb-align',
  'sd-zero',
  'rewardharness',
  'cosplay',
];

const plays = recipes.map((recipe) => ({
  sets: Object.keys(recipe.sets),
  play: {
    recipe: recipe.name,
    ...(WITH_ONNX.includes(recipe.name) ? {} : { engine: 'kernels' as const }),
    rounds: isWhole ? Math.max(ROUNDS + 1, FIRST_TRAINED[recipe.name] ?? 0) : ROUNDS,
    tasks: TWO_TASKS.includes(recipe.name) ? 2 : 4,
    groupSize: 4,
    seed: 5,
    freeze: [],
  },
}));

test.each(plays.map((one) => [one.play.recipe, one.play.rounds, one] as const))(
  '%s: rounds in the mesh: %i, and the last one moves the weights that it trains',
  async (_, __, { play, sets }) => {
    const { mesh, alone, before } = await playing.play(play);
    expect(mesh).toEqual(alone);
    expect(mesh[weightsFile()]).toMatch(/^[0-9a-f]{64}$/);
    const trained = isWhole ? [MAIN_SET] : sets;
    const moved = trained.some((set) => mesh[weightsFile(set)] !== before[weightsFile(set)]);
    expect(moved).toBe(!UNTRAINED.includes(play.recipe));
  },
);

test('sdpo: a round from a start of another size than its own', async () => {
  const policy = 'sdpo-larger';
  await playing.importPolicy(policy, await readPolicyFolder(join('models', 'arithmetic-reading')));
  const order = { recipe: 'sdpo', policy, seed: 5, rounds: 1, freeze: [], tasks: 2, groupSize: 4 };
  const { mesh, alone, before } = await playing.play({ ...order, engine: 'kernels' });
  expect(mesh).toEqual(alone);
  expect(mesh[weightsFile()]).not.toBe(before[weightsFile()]);
});

/** The check plays one of each engine. */
const forms = [
  { weights: 'int8' as const, engine: 'onnx' as const },
  { weights: 'w8a8' as const, engine: 'kernels' as const },
  ...(NIGHT
    ? [
        ...SMALLER_WEIGHTS.slice(1).map((weights) => ({ weights, engine: 'onnx' as const })),
        { weights: 'int8' as const, engine: 'kernels' as const },
        { engine: 'kernels-plain' as const },
      ]
    : []),
];

test.each(forms)(
  'sampled in another form, %j, the mesh still comes to the bytes of one process',
  async (form) => {
    const order = { recipe: ttrl.name, seed: 5, rounds: 1, freeze: [], tasks: 4, groupSize: 4 };
    const { mesh, alone } = await playing.play({ ...order, ...form });
    expect(mesh).toEqual(alone);
    const { engine, weights = 'float32' } = form;
    expect(playing.log()).toContain(`"engine":"${engine}","weights":"${weights}"`);
  },
);

test('no isolate’s heap of ONNX Runtime passes 64 MiB', () => {
  const opened = playing
    .log()
    .split('\n')
    .filter((line) => line.includes('"policy.opened"') && line.includes('"engine":"onnx"'))
    .map((line) => (JSON.parse(line) as { heapBytes: number }).heapBytes);
  expect(opened.length).toBeGreaterThanOrEqual(4);
  expect(Math.max(...opened)).toBeLessThan(HEAP_LIMIT);
});
