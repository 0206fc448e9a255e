/** Every recipe plays three rounds through the Workers, queues, R2 and the learner, and comes to the bytes of one process. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SMALLER_WEIGHTS } from '../../core/policy.ts';
import { recipes } from '../../recipes/index.ts';
import { openPlaying, type Playing } from './playing.ts';

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(recipes.map(({ start }) => start));
}, 120_000);
afterAll(() => playing.stop());

test.each(recipes.map(({ name }) => name))(
  '%s: three rounds in the mesh',
  async (recipe) => {
    const { mesh, alone } = await playing.play({
      recipe,
      seed: 5,
      rounds: 3,
      freeze: [],
      tasks: 4,
      group: 4,
    });
    expect(mesh).toEqual(alone);
  },
  60_000,
);

test.each(SMALLER_WEIGHTS)(
  'sampled with %s weights, the mesh still comes to the bytes of one process',
  async (weights) => {
    const order = { recipe: 'ttrl', seed: 5, rounds: 1, freeze: [], tasks: 4, group: 4 };
    const { mesh, alone } = await playing.play({ ...order, weights });
    expect(mesh).toEqual(alone);
    expect(playing.log()).toContain(`"weights":"${weights}"`);
  },
  60_000,
);
