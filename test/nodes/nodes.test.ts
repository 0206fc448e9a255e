/** Nodes take part in a run: the versions are the bytes of one process, whoever sampled, and each node's share is known. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { startNode } from './in-process-node.ts';

const PLAYED = ['trio', 'ssp'];
const ORDER = { seed: 6, rounds: 1, freeze: [], tasks: 4, groupSize: 4 };

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(
    PLAYED.map((name) => shipped.find(name).startPolicy),
    { vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' }, cronMs: 500 },
  );
}, 120_000);
afterAll(() => playing.stop());

test.each(PLAYED)(
  '%s: sampled by two nodes, the bytes of one process',
  async (recipe) => {
    const { gateway, url } = playing;
    const tokens = await Promise.all(
      ['a', 'b'].map(async (n) => (await gateway.makeNode(`${recipe}-${n}`)).token),
    );
    const nodes = await Promise.all(tokens.map((token) => startNode(url, token)));
    const { mesh, alone } = await playing.play({ recipe, ...ORDER });
    for (const node of nodes) await node.stop();
    expect(mesh).toEqual(alone);
    const own = (await gateway.listNodes()).filter(({ name }) => name.startsWith(recipe));
    for (const { requests, audited, state } of own) {
      expect(requests).toBeGreaterThan(0);
      expect(audited).toBeGreaterThan(0);
      expect(state).toBe('away');
    }
  },
  300_000,
);
