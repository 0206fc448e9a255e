/** Invocations that may compute next to nothing: every stage is put off again and again, and the round comes to the same bytes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { openPlaying, type Playing } from './playing.ts';

/** Of three roles that write and judge, of episodes with a tool, of judgments in pairs, of two seats. */
const PLAYED = ['trio', 'ssp', 'self-taught-evaluators', 'spiral'];
/** Seconds: some ten rows of the start policy at the rate that is reckoned with. */
const CPU_BUDGET = '0.05';

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(
    PLAYED.map((name) => shipped.find(name).startPolicy),
    { vars: { CPU_BUDGET_SECONDS: CPU_BUDGET } },
  );
});
afterAll(() => playing.stop());

test.each(PLAYED)('%s: a round in small portions', async (recipe) => {
  const { mesh, alone } = await playing.play({
    recipe,
    seed: 6,
    rounds: 1,
    freeze: [],
    tasks: 3,
    groupSize: 4,
    engine: 'kernels',
  });
  expect(mesh).toEqual(alone);
});

test('each stage was put off', () => {
  for (const stage of ['propose', 'rollout', 'judge']) expect(playing.log()).toContain(`"${stage}.paused"`);
});

test('nothing is left of what was put off', async () => {
  const kept = await playing.objects('rounds/');
  expect(kept.filter((key) => key.endsWith('/proposals.json'))).toHaveLength(PLAYED.length);
  expect(kept.filter((key) => key.includes('partial'))).toEqual([]);
});
