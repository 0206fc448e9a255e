/** Processes that stand still for a while and go on, every message ten times, and two learners that both want the same round. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { faultsOf, underFire } from '../../cli/soak/soak-run.ts';
import type { KillPoint } from '../../faults/kill-points.ts';
import type { Handler } from '../../faults/proxy.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-paused-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

const COPIES = 10;
/** The learner's pauses are longer than its leases (one second), so that what it held comes to the other learner. */
const PAUSES: readonly KillPoint[] = [
  { name: 'the mesh, tasks admitted', target: 'mesh', at: { log: 'propose.done' }, pauseMs: 1_500 },
  { name: 'the learner, groups judged', target: 'learner', at: { log: 'judge.done' }, pauseMs: 2_500 },
];

test('paused, with each message ten times and two learners, a run comes to the same bytes', async () => {
  const queue = [...PAUSES];
  const tasks = 4;
  const faults = faultsOf('paused', 0, COPIES);
  const pulled = new Set<string>();
  const counting: Handler = async (request, forward) => {
    const response = await faults.handler!(request, forward);
    if (request.kind === 'pull' && response) {
      const { result } = JSON.parse(response.body.toString('utf8')) as {
        result?: { messages: { id: string }[] };
      };
      for (const { id } of result?.messages ?? []) pulled.add(id);
    }
    return response;
  };
  const report = await underFire({
    root: process.cwd(),
    stateDir,
    order: { recipe: 'trio', seed: 18, rounds: 1, freeze: [], tasks, groupSize: 2, engine: 'kernels' },
    nextStrike: () => queue.shift() ?? null,
    learners: 2,
    ...faults,
    handler: counting,
    limitMs: 280_000,
  });
  expect(report.killPoints).toEqual(PAUSES);
  expect(pulled.size).toBeGreaterThanOrEqual(COPIES * tasks);
  const { rounds, ...books } = report.balance;
  const admitted = tasks * rounds;
  expect(books).toEqual({ admitted, trained: admitted, failed: 0, lost: 0, trainedTwice: 0, errors: [] });
  expect(report.differing).toEqual([]);
}, 300_000);
