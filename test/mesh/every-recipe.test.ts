/**
 * Every recipe plays through the Workers, queues, R2 and the learner, as many rounds as it takes to train its policy, and comes to the
 * bytes of one process.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SMALLER_WEIGHTS } from '../../core/policy.ts';
import { weightsFile } from '../../core/schema/policy.ts';
import { recipes } from '../../recipes/index.ts';
import { openPlaying, type Playing } from './playing.ts';

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(recipes.map(({ start }) => start));
}, 120_000);
afterAll(() => playing.stop());

/** What is played of recipes whose policy waits: until r-zero's challenger has asked, tango's verifier and prime's reward model have learned alone. */
const UNTIL_ITS_TURN: Readonly<Record<string, { readonly rounds: number; readonly tasks: number }>> = {
  'r-zero': { rounds: 9, tasks: 4 },
  tango: { rounds: 13, tasks: 2 },
  prime: { rounds: 9, tasks: 4 },
};
const plays = recipes.map(({ name }) => ({
  recipe: name,
  ...(UNTIL_ITS_TURN[name] ?? { rounds: 3, tasks: 4 }),
}));

test.each(plays)(
  '$recipe: $rounds rounds in the mesh, and the last one moves the policy',
  async (play) => {
    const { mesh, alone, before } = await playing.play({ ...play, seed: 5, freeze: [], group: 4 });
    expect(mesh).toEqual(alone);
    expect(mesh[weightsFile()]).toMatch(/^[0-9a-f]{64}$/);
    expect(mesh[weightsFile()]).not.toBe(before[weightsFile()]);
  },
  120_000,
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
