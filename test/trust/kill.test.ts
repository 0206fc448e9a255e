import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { KILL_POINTS } from '../faults/kill-points.ts';
import { NIGHT } from '../night.ts';
import { faultsOf, underFire } from '../soak/soak-run.ts';

const aheadDir = mkdtempSync(join(tmpdir(), 'rollmesh-kill-'));
afterAll(() => rmSync(aheadDir, { recursive: true, force: true }));

const killPointsOf = (plan: readonly string[]) =>
  plan.flatMap((name) => KILL_POINTS.filter((killPoint) => killPoint.name === name));
/**
 * For rounds that overlap: while one trains, others are rolled out. Two ahead has the kill points of one ahead as well, which is played in the night.
 * `npm run soak -- --ahead 1` and `--ahead 2` have all kill points.
 */
const ONE_AHEAD = ['reading groups (learner)', 'training (mesh)'];
const AHEAD_PLANS: readonly [number, readonly string[]][] = [
  [2, [...ONE_AHEAD, 'training (learner)', 'committed, before the learner knows (mesh)']],
  ...(NIGHT ? ([[1, ONE_AHEAD]] satisfies [number, readonly string[]][]) : []),
];

test.each(AHEAD_PLANS)(
  'killed while rounds overlap, %i ahead, a run loses nothing and comes to the same bytes',
  async (ahead, plan) => {
    const queue = killPointsOf(plan);
    expect(queue).toHaveLength(plan.length);
    const tasks = 4;
    const report = await underFire({
      root: process.cwd(),
      stateDir: join(aheadDir, String(ahead)),
      recipes: shipped,
      order: {
        recipe: 'trio',
        seed: 8,
        rounds: 3,
        freeze: [],
        tasks,
        groupSize: 2,
        ahead,
        engine: 'kernels',
      },
      nextStrike: () => queue.shift() ?? null,
      ...faultsOf(`kill ahead ${ahead}`, 0.01),
      limitMs: 560_000,
    });
    const { rounds, ...books } = report.balance;
    expect(rounds).toBeGreaterThanOrEqual(3);
    const admitted = tasks * rounds;
    expect(books).toEqual({ admitted, trained: admitted, failed: 0, lost: 0, trainedTwice: 0, errors: [] });
    expect(report.differing).toEqual([]);
  },
);
