/** Processes that stand still for a while and go on, every message ten times, and two learners that both want the same round. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { faultsOf, underFire } from '../../cli/soak/soak-run.ts';
import type { KillPoint } from '../../faults/kill-points.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-paused-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

/** The learner's pauses are longer than its leases (one second), so that what it held comes to the other learner. */
const PAUSES: readonly KillPoint[] = [
  { name: 'the mesh, tasks admitted', target: 'mesh', at: { log: 'propose.done' }, pauseMs: 1_500 },
  { name: 'the learner, groups judged', target: 'learner', at: { log: 'judge.done' }, pauseMs: 2_500 },
];

test('paused, with each message ten times and two learners, a run comes to the same bytes', async () => {
  const queue = [...PAUSES];
  const tasks = 4;
  const report = await underFire({
    root: process.cwd(),
    stateDir,
    order: { recipe: 'trio', seed: 18, rounds: 1, freeze: [], tasks, groupSize: 2 },
    nextStrike: () => queue.shift() ?? null,
    learners: 2,
    ...faultsOf('paused', 0, 10),
    limitMs: 110_000,
  });
  expect(report.killPoints).toEqual(PAUSES);
  const { rounds, ...books } = report.balance;
  const admitted = tasks * rounds;
  expect(books).toEqual({ admitted, trained: admitted, failed: 0, lost: 0, trainedTwice: 0, errors: [] });
  expect(report.differing).toEqual([]);
}, 120_000);
