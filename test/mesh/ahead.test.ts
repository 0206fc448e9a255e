/** Rounds that overlap: the mesh comes to the bytes of one process, whichever round is done first, and samples with the versions that it must. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { weightsFile } from '../../core/schema/policy.ts';
import { NIGHT } from '../night.ts';
import { openPlaying, type Playing } from './playing.ts';

const PLAYS = [
  // The same as two ahead under another number.
  ...(NIGHT ? [{ recipe: 'trio', ahead: 1, rounds: 3 }] : []),
  { recipe: 'trio', ahead: 2, rounds: 4 },
  // A proposer that reads a store of questions which every round adds to.
  { recipe: 'mae', ahead: 1, rounds: 3 },
  // A role with versions of its own behind.
  { recipe: 'llama-rl', ahead: 2, rounds: 4 },
];

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(['arithmetic-base', 'arithmetic-overthinking']);
}, 300_000);
afterAll(() => playing.stop());

test.each(PLAYS)(
  '$recipe, $ahead ahead: $rounds rounds in the mesh give the bytes of one process',
  async (play) => {
    const order = { seed: 5, freeze: [], tasks: 4, groupSize: 4, engine: 'kernels' as const };
    const { mesh, alone, before } = await playing.play({ ...order, ...play });
    expect(mesh).toEqual(alone);
    expect(mesh[weightsFile()]).not.toBe(before[weightsFile()]);
  },
  300_000,
);
