/**
 * Nodes join and are killed at random while a run plays: no group is lost or trained twice, and the versions are those of one process.
 * `npm run soak -- --nodes 3` does so with processes, for as long as it is told.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { type InProcessNode, startNode } from './in-process-node.ts';

const ROUNDS = 3;
/** The most nodes at once, and how often one joins or is killed, ms. */
const MOST = 3;
const EVERY_MS = 700;

let playing: Playing;
beforeAll(async () => {
  playing = await openPlaying(['arithmetic-base'], {
    vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '3' },
    cronMs: 1_000,
  });
}, 180_000);
afterAll(() => playing.stop());

test(
  'joined and killed at random: 0 lost, 0 twice, the bytes of one process',
  async () => {
    const { gateway, url } = playing;
    const random = new Random('churn');
    const alive: InProcessNode[] = [];
    let [joined, killed] = [0, 0];
    const join = async () => {
      const { token } = await gateway.makeNode(`node-${++joined}`);
      alive.push(await startNode(url, token));
    };
    await join();
    let over = false;
    const churning = (async () => {
      while (!over) {
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
        if (alive.length && (alive.length === MOST || random.int(2))) {
          alive.splice(random.int(alive.length), 1)[0]!.kill();
          killed++;
        } else await join();
      }
    })();
    const order = {
      recipe: 'trio',
      seed: 21,
      rounds: ROUNDS,
      freeze: [],
      tasks: 6,
      groupSize: 4,
      engine: 'kernels-plain' as const,
    };
    const { mesh, alone } = await playing.play(order);
    over = true;
    await churning;
    for (const node of alive) await node.stop();
    expect(mesh).toEqual(alone);
    expect(joined).toBeGreaterThan(1);
    expect(killed).toBeGreaterThan(0);
    const { settings } = runOf(shipped, order);
    const trained: string[] = [];
    for (const { id } of await gateway.listRounds(runIdOf(settings))) {
      const groups = await gateway.getGroups(id);
      expect(groups.map(({ state }) => state)).toEqual(groups.map(() => 'trained'));
      trained.push(...groups.map(({ group }) => group));
    }
    expect(new Set(trained).size).toBe(trained.length);
    console.log(`${ROUNDS} rounds, ${trained.length} groups: ${joined} nodes joined, ${killed} were killed`);
    const committed: string[] = [];
    for (let version = 1; version <= ROUNDS; version++)
      committed.push(...(await gateway.getManifest({ name: settings.policy, version })).groups);
    expect(committed.sort()).toEqual(trained.sort());
  },
  100_000 * ROUNDS,
);
