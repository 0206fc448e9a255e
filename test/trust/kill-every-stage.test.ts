/** Rounds under SIGKILL: mesh and learner, each a process, are killed in every stage, and the weights are those of an undisturbed run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import { KILL_POINTS } from '../faults/kill-points.ts';
import { faultsOf, underFire } from '../soak/soak-run.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-kill-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

/**
 * One for every stage, in the order in which two rounds come through them. `npm run soak -- --kills 32` has every kill point of either process;
 * its last result is test/bench/results/soak.json.
 */
const PLAN = [
  'proposing (mesh)',
  'rolled out, before judging (mesh)',
  'judging (learner)',
  'pulling (learner)',
  'training (learner)',
  'files: half of one (learner)',
  'files stored, before the commit (mesh)',
  'committed, before the learner knows (learner)',
  'rollout (mesh)',
  'trained, before the report (learner)',
  'before the ack (learner)',
];
const killPoints = PLAN.flatMap((name) => KILL_POINTS.filter((killPoint) => killPoint.name === name));

test('killed in every stage, a run loses nothing, trains nothing twice and comes to the same bytes', async () => {
  expect(killPoints).toHaveLength(PLAN.length);
  const queue = [...killPoints];
  const report = await underFire({
    root: process.cwd(),
    stateDir,
    recipes: shipped,
    order: { recipe: 'trio', seed: 7, rounds: 2, freeze: [], tasks: 6, groupSize: 4, engine: 'kernels' },
    nextStrike: () => queue.shift() ?? null,
    ...faultsOf('kill', 0.01),
    limitMs: 560_000,
  });
  expect(report.killPoints.map((killPoint) => killPoint.name)).toEqual(PLAN);
  // A moment that was missed comes again in a third round.
  const { rounds, ...books } = report.balance;
  expect(rounds).toBeGreaterThanOrEqual(2);
  const admitted = 6 * rounds;
  expect(books).toEqual({ admitted, trained: admitted, failed: 0, lost: 0, trainedTwice: 0, errors: [] });
  expect(report.differing).toEqual([]);
});
