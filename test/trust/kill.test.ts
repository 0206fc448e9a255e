import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { underFire } from '../../cli/soak-run.ts';
import { STRIKES } from '../../mesh/faults/strikes.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-kill-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

/** In the order in which two rounds come through them. */
const PLAN = [
  'proposing (mesh)',
  'tasks admitted, before solving (mesh)',
  'solving (learner)',
  'solved, before judging (mesh)',
  'pulling (learner)',
  'reading groups (mesh)',
  'training (learner)',
  'files: half of one (mesh)',
  'files: half of one (learner)',
  'files stored, before the commit (mesh)',
  'committed, before the learner knows (learner)',
  'solving (mesh)',
  'judging (mesh)',
  'training (mesh)',
  'committed, before the learner knows (mesh)',
  'before the ack (learner)',
];
const strikes = PLAN.map((name) => STRIKES.find((strike) => strike.name === name)!);

test('killed in every stage, a run loses nothing, trains nothing twice and comes to the same bytes', async () => {
  const t = performance.now();
  const queue = [...strikes];
  const report = await underFire({
    root: process.cwd(),
    stateDir,
    order: { recipe: 'trio', seed: 7, rounds: 2, freeze: [], tasks: 6, group: 4 },
    nextStrike: () => queue.shift() ?? null,
    limitMs: 170_000,
    onStrike: (s, n) => console.log(n, s.name, Math.round(performance.now() - t)),
  });
  console.log(report.wallMs);
  expect(report.strikes.map((strike) => strike.name)).toEqual(PLAN);
  expect(report.balance).toEqual({
    rounds: 2,
    admitted: 12,
    trained: 12,
    failed: 0,
    lost: 0,
    trainedTwice: 0,
    errors: [],
  });
  expect(report.differing).toEqual([]);
}, 180_000);
