/** The whole loop on real components: webhook, Workers in workerd, queues, D1, R2, the learner; and the same run in one process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SamplingThreads } from '../../cli/learner/sampling-threads.ts';
import { followRun } from '../../cli/start/follow-run.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { groupContent, roundListing } from '../../core/schema/answers.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import { roundIdOf, runIdOf } from '../../core/schema/round.ts';
import { type RoundLine, summarize } from '../../core/schema/summary.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { Evaluator } from '../../learner/loop/evaluator.ts';
import { runLearner } from '../../learner/loop/loop.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { type Mesh, SCORED_QUEUE, startMesh } from '../../local/mesh/start.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { runInProcess } from '../../local/run/single-process.ts';
import { ensureShipped } from '../../local/starts.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { PullQueue } from '../../workers/api/pull-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';

const ROUNDS = 2;
const ORDER = {
  recipe: 'trio',
  seed: 11,
  rounds: ROUNDS,
  freeze: [] as string[],
  tasks: 6,
  groupSize: 4,
  engine: 'kernels' as const,
};
/** Fewer held-out tasks than a run asks: what comes of them is compared between evaluations, and is not a finding. */
const EVALUATED = { ...HELD_OUT, most: 60 };

const { recipe, settings } = runOf(shipped, ORDER);
const run = runIdOf(settings);
const state = mkdtempSync(join(tmpdir(), 'rollmesh-loop-'));
const stop = new AbortController();
const sampling = new SamplingThreads(2);
const lines: RoundLine[] = [];
const starts: EvaluationReport[] = [];
const events: string[] = [];
let mesh: Mesh;
let gateway: GatewayClient;
let learning: Promise<void>;

beforeAll(async () => {
  await openDevice({ device: 'cpu', threads: 1 });
  mesh = await startMesh({ stateDir: state, cronMs: 0 });
  const token = mesh.secrets.LEARNER_TOKEN;
  gateway = new GatewayClient({ url: mesh.url, token });
  await ensureShipped(gateway);
  const queue = new PullQueue({ baseUrl: mesh.pullUrl, accountId: 'local', queueId: SCORED_QUEUE, token });
  const evaluator = new Evaluator(gateway, shipped, ROUNDS, undefined, EVALUATED, run, sampling);
  learning = runLearner(
    {
      queue,
      gateway,
      trainer: new RoundTrainer(),
      evaluate: (round, { version }) => evaluator.after(round, version),
      evaluateAhead: (ready) => evaluator.ahead(ready),
      log: (event) => events.push(event),
    },
    {
      recipes: shipped,
      meshKey: mesh.secrets.MESH_KEY,
      maxStaleness: 2,
      device: 'test',
      leaseMs: 60_000,
      longestIdleMs: 100,
    },
    stop.signal,
  );
  await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, ORDER);
  const followed = {
    gateway,
    run,
    rounds: ROUNDS,
    evaluateEvery: ROUNDS,
    signal: stop.signal,
    start: (evaluation: EvaluationReport) => starts.push(evaluation),
  };
  for await (const line of followRun(followed)) lines.push(line);
});

afterAll(async () => {
  stop.abort();
  await learning;
  await sampling.stop();
  await mesh.stop();
  rmSync(state, { recursive: true, force: true });
});

test('a webhook for two rounds gives two versions, every group trained once', async () => {
  expect(lines.map(({ round, from, to }) => [round, from, to])).toEqual([
    [1, 0, 1],
    [2, 1, 2],
  ]);
  for (const { groups } of lines)
    expect(groups).toMatchObject({ admitted: 6, scored: 6, trained: 6, failed: 0 });
  const manifests = await Promise.all(
    [1, 2].map((version) => gateway.getManifest({ name: settings.policy, version })),
  );
  const trained = manifests.flatMap((manifest) => manifest.groups);
  expect(new Set(trained).size).toBe(12);
  expect(manifests.map((manifest) => manifest.parent)).toEqual([0, 1]);
  expect(events.filter((event) => event === 'round.trained')).toHaveLength(2);
});

test('the start is evaluated once the first round is trained, and told once', async () => {
  const { start, ...trained } = (await gateway.getRound(roundIdOf(run, 1))).report!;
  expect(starts).toEqual([start]);
  expect(start).toMatchObject({ version: 0 });
  // The rest of the report stays as it was when the round was trained.
  expect(trained).toHaveProperty('training');
  expect(lines[0]!.report).toMatchObject(trained);
});

test('the rounds report rollouts, training and held-out accuracy', () => {
  const [first, second] = lines.map(({ report }) => report);
  expect(starts[0]?.heldOut).toMatchObject({ n: EVALUATED.most });
  expect(second!.evaluation).toMatchObject({ version: 2 });
  for (const report of [first!, second!]) {
    expect(report.training!.mismatch.max).toBeLessThan(1e-3);
    expect(report.training!.mismatch.mean).toBeLessThan(1e-4);
    expect(report.monitors!.rollouts).toBe(24);
  }
});

test('the same settings in one process give the same weights, bit for bit, and report the same', async () => {
  const seed = await readPolicyFolder('models/arithmetic-base');
  const store = new MemoryRunStore();
  await store.commitVersion({ name: settings.policy, version: 0 }, seed);
  const policies = new OpenPolicies(nodeEngines, (ref) => store.loadVersion(ref));
  const alone: RoundLine[] = [];
  await runInProcess({
    recipe,
    settings,
    rounds: ROUNDS,
    evaluateEvery: 100,
    store,
    trainer: new RoundTrainer(),
    tokenizer: tokenizerOf(seed, settings.policy),
    use: policies.use,
    roles: bindingsOf(recipe, settings),
    onRound: (line) => alone.push(line),
  });
  const here: VersionFiles = await store.loadVersion({ name: settings.policy, version: ROUNDS });
  const there = await gateway.getVersion({ name: settings.policy, version: ROUNDS });
  for (const file of ['model.safetensors', 'optimizer.safetensors'] as const)
    expect(Buffer.from(here[file]!).equals(Buffer.from(there[file]!)), file).toBe(true);
  // Times and the mesh's own books aside.
  const told = ({ report: { monitors, training, figures, earnings, warnings } }: RoundLine) => ({
    monitors,
    training,
    figures,
    earnings,
    warnings,
  });
  expect(alone.map(told)).toEqual(lines.map(told));
  expect(Object.keys(lines[0]!.report.earnings ?? {})).toHaveLength(lines[0]!.groups.proposed);
});

test('the page of a group shows what its proposal earned; the listing of rounds leaves that to the round', async () => {
  const [newest] = await gateway.listRounds(run);
  const [first] = await gateway.getGroups(newest!.id);
  const read = async (path: string) => (await fetch(`${mesh.url}/api/rounds${path}`)).json();
  const { proposal, samples } = v.parse(groupContent, await read(`/${newest!.id}/groups/${first!.group}`));
  const passed = samples!.filter(({ rewards }) => rewards.passed === 1).length / samples!.length;
  expect(proposal).toHaveLength(1);
  expect(proposal[0]).toMatchObject({ role: 'proposer', rewards: { reward: 4 * passed * (1 - passed) } });
  expect(proposal[0]!.text!.completion).toMatch(/<eos>$/);
  const { rounds } = v.parse(roundListing, await read(`?run=${run}`));
  expect(rounds[0]!.report).toHaveProperty('training');
  expect(rounds[0]!.report).not.toHaveProperty('earnings');
});

test('a run that continues a trained policy measures from where it began, and a third says what came between', async () => {
  const signal = stop.signal;
  const follow = async (order: typeof ORDER & { policy?: string }, rounds: number) => {
    // The rounds of ORDER were evaluated when ROUNDS had ended: an earlier evaluation would be waited for in vain.
    const followed = {
      gateway,
      run: runIdOf(runOf(shipped, order).settings),
      rounds,
      evaluateEvery: ROUNDS,
      signal,
    };
    const all: RoundLine[] = [];
    for await (const line of followRun(followed)) all.push(line);
    return all;
  };
  const other = { ...ORDER, seed: 12, tasks: 4, rounds: 1, policy: settings.policy };
  await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, other);
  const continued = await follow(other, 1);
  expect(continued[0]).toMatchObject({ from: ROUNDS, to: ROUNDS + 1 });
  const { start } = continued[0]!.report;
  expect(start?.version).toBe(ROUNDS);
  expect(start?.heldOut).toEqual(lines[1]!.report.evaluation?.heldOut);
  const summary = summarize(
    runOf(shipped, other).settings,
    recipe,
    { ...(start ? { evaluation: start } : {}) },
    continued,
    1,
  );
  expect(summary).toMatchObject({ from: ROUNDS, others: 0, versions: { solver: ROUNDS + 1 } });

  await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, { ...ORDER, rounds: 1 });
  const again = await follow(ORDER, ROUNDS + 1);
  expect(again.map(({ from, to, others }) => [from, to, others])).toEqual([
    [0, 1, undefined],
    [1, 2, undefined],
    [3, 4, 1],
  ]);
});
