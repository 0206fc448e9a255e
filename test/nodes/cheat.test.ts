/** A node that does not compute what it says is found by the learner's audit, shut out, and what it had a part in is sampled again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';
import { honestly, startNode } from './in-process-node.ts';

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(['arithmetic-base'], {
    vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' },
    cronMs: 500,
  });
});
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
});

test.runIf(NIGHT)(
  `at the usual share a new node that lies once in a while is found in its first round, and honest ones are not${IN_THE_NIGHT}`,
  async () => {
    const few = await openPlaying(
      ['arithmetic-base'],
      { vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' }, cronMs: 500 },
      undefined,
      undefined,
      undefined,
      0.02,
    );
    try {
      const { gateway, url } = few;
      const tokens = [];
      for (const name of ['honest', 'also-honest', 'liar']) tokens.push((await gateway.makeNode(name)).token);
      const right = honestly();
      let answered = 0;
      // The first result, and one in four after it. No larger than what two engines may differ by, so that only the draw can find it.
      const liar = await startNode(url, tokens[2]!, async (...asked) =>
        (await right(...asked)).map((request) => {
          if (answered++ % 4) return request;
          const [[first, ...row], ...rows] = request as unknown as [[(typeof request)[0][0]]];
          const logprobs = first!.logprobs.with(0, Math.fround(first!.logprobs[0]! - 2 ** -10));
          return [[{ ...first!, logprobs }, ...row], ...rows];
        }),
      );
      const computing = honestly();
      const others = await Promise.all(tokens.slice(0, 2).map((token) => startNode(url, token, computing)));
      const { mesh, alone } = await few.play({
        recipe: 'trio',
        seed: 9,
        rounds: 2,
        freeze: [],
        tasks: 6,
        groupSize: 4,
        engine: 'kernels',
      });
      for (const other of others) await other.stop();
      await expect(liar.ended).rejects.toMatchObject({ code: 'node.shut-out' });
      expect(mesh).toEqual(alone);
      const of = new Map((await gateway.listNodes()).map((node) => [node.name, node]));
      expect(of.get('liar')).toMatchObject({ state: 'shut-out', audited: 0 });
      for (const name of ['honest', 'also-honest']) {
        expect(of.get(name)).toMatchObject({ reason: null });
        expect(of.get(name)!.audited).toBeGreaterThan(0);
      }
    } finally {
      await few.stop();
    }
  },
);
