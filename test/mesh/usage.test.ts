/** What a round says it used, against what its messages and objects must come to by hand. No learner: its part is counted at the client. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { costOf } from '../../core/cost/cost.ts';
import { totalUsage, type Usage } from '../../core/cost/usage.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { Tally } from '../../workers/api/tally.ts';
import { openScene, type Scene } from './scene.ts';

const TASKS = 32;
let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.stop());

interface UsageView {
  readonly stages: Record<'propose' | 'rollout' | 'judge' | 'gateway' | 'learner', Usage>;
  readonly total: Usage;
  readonly cost: { readonly total: number };
}

test('a round of 32 groups: every message three operations a hop, at most five rows written a group', async () => {
  const tally = new Tally();
  const { url, secrets } = scene.mesh;
  const learner = new GatewayClient({ url, token: secrets.LEARNER_TOKEN, tally });
  const { round } = await scene.order({
    recipe: 'trio',
    seed: 3,
    tasks: TASKS,
    groupSize: 2,
    engine: 'kernels',
  });
  const state = await scene.reach(round, ['training']);
  const pulled = await scene.drain();
  const files = await scene.gateway.getVersion({ name: 'arithmetic-base', version: 0 });
  const { policy } = state.spec.settings;
  const groups = (await learner.getGroups(round)).map(({ group }) => group);
  const about = { policy, version: 1, parent: 0, groups, round, settings: {} };
  await learner.putVersion(files, about);
  await learner.report(round, { used: { ...tally.total, queueOperations: 2 * pulled.length } });

  const view = (await (await fetch(`${url}/api/rounds/${round}`)).json()) as { usage: UsageView };
  const { stages, total, cost } = view.usage;
  expect(Object.keys(stages).sort()).toEqual(['gateway', 'judge', 'learner', 'propose', 'rollout']);

  // Read and deleted once each, and what is sent on; the order's own message is the gateway's.
  expect(stages.gateway.queueOperations).toBe(1);
  expect(stages.propose.queueOperations).toBe(2 + TASKS);
  expect(stages.rollout.queueOperations).toBe(3 * TASKS);
  expect(stages.judge.queueOperations).toBe(3 * TASKS);
  expect(total.queueOperations).toBe(3 + 3 * 3 * TASKS);

  // One object a round, then one a group and stage; the judge reads each rollout, and everybody the policy's files.
  expect([stages.propose.r2ClassA, stages.rollout.r2ClassA, stages.judge.r2ClassA]).toEqual([
    1,
    TASKS,
    TASKS,
  ]);
  expect(stages.judge.r2ClassB).toBeGreaterThanOrEqual(TASKS);
  expect(stages.learner.r2ClassA).toBe(Object.keys(files).length + 1);

  expect(total.d1RowsWritten).toBeGreaterThan(4 * TASKS);
  expect(total.d1RowsWritten / TASKS).toBeLessThanOrEqual(5);
  for (const stage of ['propose', 'rollout', 'judge'] as const)
    expect(stages[stage].cpuMs).toBeGreaterThan(0);

  expect(total).toEqual(totalUsage(Object.values(stages)));
  expect(cost.total).toBeCloseTo(costOf(total).total, 15);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain(`\nrollmesh_queue_operations_total{stage="rollout"} ${3 * TASKS}\n`);
});
