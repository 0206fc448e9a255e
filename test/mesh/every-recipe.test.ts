/**
 * Recipes play through the Workers, queues, R2 and the learner, as many rounds as it takes to train their policies, and come to the bytes of
 * one process: some of them in `npm run check`, every one in `npm run check:recipes`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SMALLER_WEIGHTS } from '../../core/policy.ts';
import { weightsFile } from '../../core/schema/policy.ts';
import { ttrl } from '../../recipes/ttrl/recipe.ts';
import { chosenRecipes } from '../every-recipe/chosen.ts';
import { openPlaying, type Playing } from './playing.ts';

const recipes = chosenRecipes();
let playing: Playing;
beforeAll(async () => {
  const starts = [ttrl, ...recipes].map(({ startPolicy }) => startPolicy);
  playing = await openPlaying(['arithmetic-base', ...starts]);
}, 120_000);
afterAll(() => playing.stop());

/** Recipes that sample with ONNX Runtime here; the others sample with the kernels, in a quarter of the time. */
const WITH_ONNX = ['trio', 'ragen'];

/** Recipes that train nothing: their versions are those they began with. */
const UNTRAINED = ['cosplay'];

/** Three rounds, or as many as come before the policy's turn; as many tasks as leave something to learn. */
const plays = recipes.map(({ name, claim }) => ({
  recipe: name,
  ...(WITH_ONNX.includes(name) ? {} : { engine: 'kernels' as const }),
  rounds: Math.max(3, claim?.quickRounds ?? 0),
  tasks: [
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
  ].includes(name)
    ? 2
    : 4,
}));

test.each(plays.map((play) => [play.recipe, play.rounds, play] as const))(
  '%s: %i rounds in the mesh, and the last one moves the policy that is trained',
  async (_, __, play) => {
    const { mesh, alone, before } = await playing.play({ ...play, seed: 5, freeze: [], groupSize: 4 });
    expect(mesh).toEqual(alone);
    expect(mesh[weightsFile()]).toMatch(/^[0-9a-f]{64}$/);
    expect(mesh[weightsFile()] === before[weightsFile()]).toBe(UNTRAINED.includes(play.recipe));
  },
  300_000,
);

const forms = [
  ...SMALLER_WEIGHTS.map((weights) => ({ weights, engine: 'onnx' as const })),
  { weights: 'int8' as const, engine: 'kernels' as const },
  { engine: 'kernels-plain' as const },
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
  300_000,
);
