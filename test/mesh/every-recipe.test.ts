/** Every recipe plays three rounds through the Workers, queues, R2 and the learner, and comes to the bytes of one process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureShipped } from '../../cli/import-policy.ts';
import { orderRounds } from '../../cli/signed-webhook.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { openDevice } from '../../learner/device/device.ts';
import { learn } from '../../learner/loop/loop.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { GatewayClient } from '../../learner/transport/gateway-client.ts';
import { PullQueue } from '../../learner/transport/pull-queue.ts';
import { hashesOf, undisturbed } from '../../mesh/faults/undisturbed.ts';
import { type Mesh, SCORED_QUEUE, startMesh } from '../../mesh/start.ts';
import { readSeed } from '../../model/seed-files.ts';
import { recipes } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';

const ROUNDS = 3;
const state = mkdtempSync(join(tmpdir(), 'rollmesh-recipes-'));
const stop = new AbortController();
let mesh: Mesh;
let gateway: GatewayClient;
let learning: Promise<void>;

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  mesh = await startMesh({ stateDir: state, cronMs: 0, rateLimit: 1_000_000 });
  const token = mesh.secrets.LEARNER_TOKEN;
  gateway = new GatewayClient({ url: mesh.url, token });
  for (const start of new Set(recipes.map((recipe) => recipe.start))) await ensureShipped(gateway, start);
  const queue = new PullQueue({ baseUrl: mesh.pullUrl, accountId: 'local', queueId: SCORED_QUEUE, token });
  learning = learn(
    { queue, gateway, trainer: new RoundTrainer(), log: () => {} },
    { meshKey: mesh.secrets.MESH_KEY, maxStaleness: 2, device: 'test', leaseMs: 60_000, longestIdleMs: 100 },
    stop.signal,
  );
}, 120_000);

afterAll(async () => {
  stop.abort();
  await learning;
  await mesh.stop();
  rmSync(state, { recursive: true, force: true });
});

test.each(recipes.map(({ name }) => name))(
  '%s: three rounds in the mesh',
  async (name) => {
    const order = { recipe: name, seed: 5, rounds: ROUNDS, freeze: [], tasks: 4, group: 4 };
    const run = runOf(order);
    await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, order);
    const alone = await undisturbed(run, await readSeed(join('models', run.recipe.start)));
    const id = runIdOf(run.settings);
    for (;;) {
      const rounds = await gateway.listRounds(id);
      const failed = rounds.find(({ stage }) => stage === 'failed');
      expect(failed, JSON.stringify(failed)).toBeUndefined();
      if (rounds.filter(({ stage }) => stage === 'done').length === ROUNDS) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const files = await gateway.getVersion({ name: run.settings.policy, version: ROUNDS });
    expect(hashesOf(files)).toEqual(alone[ROUNDS]);
  },
  60_000,
);
