/**
 * Node processes join and are killed at random while a run plays: no group is lost or trained twice, and the versions are those of one
 * process. Shows what no test of a single node can: leases that die in every state. `npm run soak -- --nodes 3` does so for as long as it is told.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';
import { underFire } from '../soak/soak-run.ts';

/** So many that nodes come, and die, while they are played. */
const ROUNDS = 10;

const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-churn-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

test.runIf(NIGHT)(
  `joined and killed at random: 0 lost, 0 twice, the bytes of one process${IN_THE_NIGHT}`,
  async () => {
    const { balance, differing, nodes } = await underFire({
      root: process.cwd(),
      stateDir,
      recipes: shipped,
      order: {
        recipe: 'trio',
        seed: 17,
        rounds: ROUNDS,
        freeze: [],
        tasks: 6,
        groupSize: 4,
        engine: 'kernels',
      },
      nextStrike: () => null,
      nodes: 3,
      limitMs: 280_000,
    });
    const { rounds, admitted, ...books } = balance;
    expect(rounds).toBe(ROUNDS);
    expect(books).toEqual({ trained: admitted, failed: 0, lost: 0, trainedTwice: 0, errors: [] });
    expect(differing).toEqual([]);
    expect(nodes!.joined).toBeGreaterThan(1);
    expect(nodes!.killed).toBeGreaterThan(0);
    expect(nodes!.requests).toBeGreaterThan(0);
  },
);
