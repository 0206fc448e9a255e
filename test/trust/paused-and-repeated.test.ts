/** Processes that stand still for a while and go on, every message ten times, two learners that both want the same round, and clocks that differ. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { shipped } from '../../recipes/index.ts';
import type { KillPoint } from '../faults/kill-points.ts';
import type { Handler } from '../faults/proxy.ts';
import { faultsOf, underFire } from '../soak/soak-run.ts';

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
    recipes: shipped,
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
});

/** Every Node but this one is a day ahead; workerd, which has no such switch, is not. */
const A_DAY_AHEAD = `
const Real = Date;
const DAY = 24 * 3600 * 1000;
globalThis.Date = class Date extends Real {
  constructor(...parts) {
    super(...(parts.length ? parts : [Real.now() + DAY]));
  }
  static now() {
    return Real.now() + DAY;
  }
};
`;

test('where the clocks of mesh and learner are a day ahead of workerd’s, a run comes to the same bytes', async () => {
  const ahead = join(stateDir, 'a-day-ahead.mjs');
  writeFileSync(ahead, A_DAY_AHEAD);
  vi.stubEnv('NODE_OPTIONS', `--import=${pathToFileURL(ahead)}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const report = await underFire({
    root: process.cwd(),
    stateDir: join(stateDir, 'ahead'),
    recipes: shipped,
    order: { recipe: 'trio', seed: 18, rounds: 1, freeze: [], tasks: 4, groupSize: 2, engine: 'kernels' },
    nextStrike: () => null,
    limitMs: 280_000,
  });
  const [line] = readFileSync(join(stateDir, 'ahead', 'learner.log'), 'utf8').split('\n');
  const { at } = JSON.parse(line!) as { at: string };
  expect(Date.parse(at) - Date.now()).toBeGreaterThan(23 * 3600 * 1000);
  expect(report.balance).toMatchObject({ rounds: 1, trained: 4, failed: 0, errors: [] });
  expect(report.differing).toEqual([]);
});
