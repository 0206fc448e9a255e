/** Nodes take part in a run: the versions are the bytes of one process, whoever sampled, and each node's share is known. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { startNode } from './in-process-node.ts';

const PLAYED = ['trio', 'ssp'];
/** Each stage has more requests than one node holds at once. */
const ORDER = { seed: 6, rounds: 1, freeze: [], tasks: 8, groupSize: 4, engine: 'kernels' as const };

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(
    PLAYED.map((name) => shipped.find(name).startPolicy),
    { vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' }, cronMs: 500 },
  );
}, 120_000);
afterAll(() => playing.stop());

/** Whoever has work waits for the others, so that a fast node does not take it all; no longer than this, since there may be too little for all, ms. */
const PATIENCE_MS = 5_000;
function meeting(size: number): (who: string) => Promise<void> {
  const come = new Set<string>();
  let all = () => {};
  const met = new Promise<void>((resolve) => {
    all = resolve;
  });
  return async (who) => {
    if (come.add(who).size === size) all();
    await Promise.race([met, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  };
}

test.each(PLAYED)(
  '%s: sampled by two nodes, the bytes of one process',
  async (recipe) => {
    const { gateway, url } = playing;
    const tokens = await Promise.all(
      ['a', 'b'].map(async (n) => (await gateway.makeNode(`${recipe}-${n}`)).token),
    );
    const both = meeting(tokens.length);
    const nodes = await Promise.all(
      tokens.map((token) => startNode(url, token, undefined, () => both(token))),
    );
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
