/** A node that does not compute what it says is found by the learner's audit, shut out, and what it had a part in is sampled again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { honestly, startNode } from './in-process-node.ts';

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(['arithmetic-base'], {
    vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' },
    cronMs: 500,
  });
}, 120_000);
afterAll(() => playing.stop());

test('one bit of one log-probability: shut out, and the version is that of one process', async () => {
  const { gateway, url } = playing;
  const [honest, cheat] = [await gateway.makeNode('honest'), await gateway.makeNode('cheat')];
  // Both have to sample: the honest one begins when the cheat has, which then leaves it time.
  let cheated = () => {};
  let joined = () => {};
  const cheatSampled = new Promise<void>((resolve) => {
    cheated = resolve;
  });
  const honestSampled = new Promise<void>((resolve) => {
    joined = resolve;
  });
  const right = honestly();
  let calls = 0;
  // The last log-probability of a completion moves by its last bits; the gateway cannot see that.
  const cheating = await startNode(url, cheat.token, async (...asked) => {
    if (calls++ > 0) await Promise.race([honestSampled, sleep(10_000)]);
    const made = await right(...asked);
    cheated();
    return made.map((request) =>
      request.map((row) =>
        row.map((completion) => ({
          ...completion,
          logprobs: completion.logprobs.map((x, i) => (i === 0 ? x - 2 ** -20 : x)),
        })),
      ),
    );
  });
  const computing = honestly();
  const honestNode = cheatSampled.then(() =>
    startNode(url, honest.token, async (...asked) => {
      const made = await computing(...asked);
      joined();
      return made;
    }),
  );
  const { mesh, alone } = await playing.play({
    recipe: 'trio',
    seed: 8,
    rounds: 1,
    freeze: [],
    tasks: 6,
    groupSize: 4,
    engine: 'kernels',
  });
  await (await honestNode).stop();
  await expect(cheating.ended).rejects.toMatchObject({ code: 'node.shut-out' });
  expect(mesh).toEqual(alone);
  const of = new Map((await gateway.listNodes()).map((node) => [node.name, node]));
  expect(of.get('honest')).toMatchObject({ state: 'away', reason: null });
  expect(of.get('honest')!.audited).toBeGreaterThan(0);
  expect(of.get('cheat')).toMatchObject({ state: 'shut-out', audited: 0 });
  expect(of.get('cheat')!.reason).toContain('audit.log-probability');
}, 300_000);
