/** A local mesh with its learner that plays short runs of recipes, and the bytes that one process comes to. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AskService } from '../../core/net/reward-service.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { runLearner } from '../../learner/loop/loop.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { type MeshOptions, SCORED_QUEUE, startMesh } from '../../local/mesh/start.ts';
import { ensureShipped, importPolicy } from '../../local/starts.ts';
import { tasksBeside } from '../../local/stored-tasks.ts';
import { expectExplained } from '../../local/testing/explained.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import type { RunOrder } from '../../recipes/run-order.ts';
import { runOf } from '../../recipes/run-order.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { PullQueue } from '../../workers/api/pull-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { type FileHashes, hashesOf, referenceRun } from '../faults/reference-run.ts';

/** Hashes of the last version's files, from the mesh and from one process, and of those of the version before it. */
export interface Played {
  readonly mesh: FileHashes;
  readonly alone: FileHashes;
  readonly before: FileHashes;
}

export interface Playing {
  readonly gateway: GatewayClient;
  /** Plays the order's rounds, in the mesh and in one process. */
  readonly play: (order: RunOrder) => Promise<Played>;
  /** Plays them in the mesh alone. @returns the hashes of the last version's files */
  readonly playInMesh: (order: RunOrder) => Promise<FileHashes>;
  /** Stores version 0 of a policy that an order names. */
  readonly importPolicy: (name: string, files: VersionFiles) => Promise<void>;
  /** What the Workers logged so far. */
  readonly log: () => string;
  /** The keys of the first thousand objects whose keys begin so. */
  readonly objects: (prefix: string) => Promise<string[]>;
  readonly url: string;
  readonly webhookSecret: string;
  readonly stop: () => Promise<void>;
}

/** `starts`: shipped policies that runs begin with. `trainer`: of the learner. `audited`: the share that it draws. The tasks of large files lie beside the modules. */
export async function openPlaying(
  starts: Iterable<string>,
  options: MeshOptions = {},
  recipes: Registry = shipped,
  askService?: AskService,
  trainer: RoundTrainer = new RoundTrainer(),
  // Whatever an honest recipe writes must pass: a group that is refused would change the bytes.
  audited = 1,
): Promise<Playing> {
  const state = mkdtempSync(join(tmpdir(), 'rollmesh-playing-'));
  const stop = new AbortController();
  await openDevice({ device: 'cpu', threads: 1 });
  const mesh = await startMesh({ stateDir: state, cronMs: 0, rateLimit: 1_000_000, ...options });
  const token = mesh.secrets.LEARNER_TOKEN;
  const gateway = new GatewayClient({ url: mesh.url, token });
  for (const start of new Set(starts)) await ensureShipped(gateway, start);
  const queue = new PullQueue({ baseUrl: mesh.pullUrl, accountId: 'local', queueId: SCORED_QUEUE, token });
  const learning = runLearner(
    { queue, gateway, trainer, log: () => {} },
    {
      recipes,
      meshKey: mesh.secrets.MESH_KEY,
      maxStaleness: 2,
      audit: openAudit(audited),
      device: 'test',
      leaseMs: 60_000,
      longestIdleMs: 100,
    },
    stop.signal,
  );
  const imported = new Map<string, VersionFiles>();
  const order = (of: RunOrder) => orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, of);
  /** Waits for a run that was ordered. */
  async function ended(of: RunOrder): Promise<FileHashes> {
    const run = runOf(recipes, of);
    const id = runIdOf(run.settings);
    for (;;) {
      const rounds = await gateway.listRounds(id);
      const failed = rounds.find(({ state }) => state === 'failed');
      if (failed) throw new Error(`A round failed: ${JSON.stringify(failed)}`);
      if (rounds.filter(({ state }) => state === 'done').length === run.rounds) {
        const reported = (await gateway.reportedRounds(id)).flatMap(({ report }) =>
          Object.keys(report?.figures ?? {}),
        );
        expectExplained(run.recipe, reported);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return hashesOf(await gateway.getVersion({ name: run.settings.policy, version: run.rounds }));
  }
  return {
    gateway,
    async play(of) {
      const run = runOf(recipes, of);
      await order(of);
      const own = imported.get(run.settings.policy);
      const alone = await referenceRun(
        run,
        own ?? (await readPolicyFolder(join('models', run.recipe.startPolicy))),
        askService,
        imported,
        tasksBeside((options.recipes ?? []).map((file) => ({ file }))),
      );
      return { mesh: await ended(of), alone: alone[run.rounds]!, before: alone[run.rounds - 1]! };
    },
    async playInMesh(of) {
      await order(of);
      return ended(of);
    },
    importPolicy: async (name, files) => {
      await importPolicy(gateway, name, files, {});
      imported.set(name, files);
    },
    log: () => readFileSync(join(state, 'mesh.log'), 'utf8'),
    objects: async (prefix) => {
      const bucket = await mesh.mf.getR2Bucket('BUCKET', 'rollmesh-gateway');
      return (await bucket.list({ prefix })).objects.map(({ key }) => key);
    },
    url: mesh.url,
    webhookSecret: mesh.secrets.WEBHOOK_SECRET,
    async stop() {
      stop.abort();
      await learning;
      await mesh.stop();
      rmSync(state, { recursive: true, force: true });
    },
  };
}
