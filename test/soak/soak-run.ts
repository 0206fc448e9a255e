/**
 * A run under faults: real processes are killed at kill points, and calls between the parts fail; then the records are checked, and
 * the weights are compared with those of the reference run.
 */
import { join } from 'node:path';
import { RollmeshError } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import type { VersionFile } from '../../core/schema/policy.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { readStart } from '../../local/find-start.ts';
import { moduleFile } from '../../local/mesh/installation.ts';
import { ensureShipped } from '../../local/starts.ts';
import { type RunOrder, runOf } from '../../recipes/run-order.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { Churn, type Churned, LIAR } from '../faults/churn.ts';
import { Cluster, type ClusterOptions } from '../faults/cluster.ts';
import { FaultInjector } from '../faults/fault-injector.ts';
import type { FaultSettings } from '../faults/fault-settings.ts';
import { faultyNetwork } from '../faults/faulty-network.ts';
import type { KillPoint } from '../faults/kill-points.ts';
import { type Balance, balance, type LedgerRound, readLedger } from '../faults/ledger.ts';
import { forwardAll, type Handler } from '../faults/proxy.ts';
import { type FileHashes, referenceRun } from '../faults/reference-run.ts';

export interface UnderFire {
  readonly root: string;
  readonly stateDir: string;
  /** The recipes that orders may name. */
  readonly recipes: Registry;
  /** `rounds` is the least number of rounds; more follow while kill points are left. */
  readonly order: RunOrder;
  /** Returns the next kill point; null = there are no more. */
  readonly nextStrike: () => KillPoint | null;
  readonly handler?: Handler;
  /** How many learners there are; default 1. */
  readonly learners?: number;
  readonly meshOptions?: NonNullable<ClusterOptions['meshOptions']>;
  /** The most nodes at once, which join and are killed at random and sample beside the isolates; default 0. */
  readonly nodes?: number;
  /** How many of them lie in a part of their results; default 0. */
  readonly liars?: number;
  /** The run is given up after this time, ms. */
  readonly limitMs: number;
  readonly onStrike?: (killPoint: KillPoint, n: number) => void;
}

/** Faults on a share of the calls, drawn from a seed: calls between learner and mesh, and calls of every Worker to its bindings. `copies`: how often each message is delivered. */
export const faultsOf = (
  seed: string,
  rate: number,
  copies = 1,
): Pick<UnderFire, 'handler' | 'meshOptions'> => ({
  handler: faultyNetwork(seed, rate),
  meshOptions: (start) => ({
    around: moduleFile('test/faults/faulty.worker'),
    vars: { FAULTS: JSON.stringify({ seed: `${seed}/${start}`, rate, copies } satisfies FaultSettings) },
  }),
});

export interface NodesUnderFire extends Churned {
  /** Requests that they answered, and requests that were taken back from them. */
  readonly requests: number;
  readonly lost: number;
  /** Liars that were shut out, and nodes that were although they did not lie. */
  readonly shutOut: number;
  readonly shutOutWrongly: number;
}

export interface FireReport {
  readonly killPoints: readonly KillPoint[];
  readonly balance: Balance;
  /** Versions whose files differ from the reference run's; null where groups failed, since nothing is promised then. */
  readonly differing: readonly number[] | null;
  /** Of the nodes, if there were any. */
  readonly nodes: NodesUnderFire | null;
  /** The longest time in which the mesh's log told nothing, ms. */
  readonly longestSilenceMs: number;
  readonly wallMs: number;
}

/** How long nothing may be told, ms. */
export const SILENCE_MS = 30_000;

/** Threads of the learner: mesh, learner and this process share two cores, and one thread keeps its arithmetic the same everywhere. */
const THREADS = 1;
const LEARNER = ['--device=cpu', `--threads=${THREADS}`, '--eval-every=0', '--lease-seconds=1'];
/** The time without progress after which the clock drives a round again: far longer than a stage of such small rounds. */
const VARS = { STALL_SECONDS: '3', RETRY_SECONDS: '1' };
/** With nodes: what one holds is taken back soon, since it may be dead. */
const NODE_VARS = { LEASE_SECONDS: '5', STALL_SECONDS: '60' };
const CRON_MS = 500;
const POLL_MS = 200;
/** How long a kill point may wait after the last round before another round is ordered for it, ms. */
const GRACE_MS = 2_000;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export async function underFire(fire: UnderFire): Promise<FireReport> {
  const began = performance.now();
  const injector = new FaultInjector(fire.nextStrike, (killPoint) =>
    fire.onStrike?.(killPoint, injector.done.length),
  );
  const handler = injector.wrap(fire.handler ?? forwardAll);
  let heardAt = performance.now();
  let longestSilenceMs = 0;
  const hear = () => {
    const now = performance.now();
    longestSilenceMs = Math.max(longestSilenceMs, Math.round(now - heardAt));
    heardAt = now;
  };
  const cluster = await Cluster.create({
    root: fire.root,
    stateDir: fire.stateDir,
    vars: fire.nodes ? { ...VARS, ...NODE_VARS } : VARS,
    cronMs: CRON_MS,
    learnerArgs: LEARNER,
    handler: () => handler,
    onEvent: (event) => {
      hear();
      injector.onEvent(event);
    },
    ...(fire.learners ? { learners: fire.learners } : {}),
    ...(fire.meshOptions ? { meshOptions: fire.meshOptions } : {}),
  });
  let churn: Churn | undefined;
  try {
    await cluster.start('mesh');
    await cluster.start('learner');
    const gateway = new GatewayClient({ url: cluster.url, token: cluster.secrets.LEARNER_TOKEN });
    await ensureShipped(gateway);
    injector.attach(cluster);
    if (fire.nodes)
      churn = new Churn({
        url: cluster.url,
        gateway,
        most: fire.nodes,
        liars: fire.liars ?? 0,
        random: new Random(`churn/${fire.order.seed}`),
        log: join(cluster.stateDir, 'nodes.log'),
      });
    const ledger = await playToTheEnd(fire, cluster, gateway, injector, began);
    hear();
    const churned = await churn?.stop();
    const listed = churned ? await gateway.listNodes() : [];
    const total = (field: 'requests' | 'lost') => listed.reduce((sum, node) => sum + node[field], 0);
    const outcasts = listed.filter(({ state }) => state === 'shut-out');
    const shutOut = outcasts.filter(({ name }) => name.startsWith(LIAR)).length;
    const balanced = balance(ledger);
    return {
      killPoints: injector.done,
      balance: balanced,
      differing: balanced.failed ? null : await differingVersions(fire, ledger),
      nodes: churned
        ? {
            ...churned,
            requests: total('requests'),
            lost: total('lost'),
            shutOut,
            shutOutWrongly: outcasts.length - shutOut,
          }
        : null,
      longestSilenceMs,
      wallMs: Math.round(performance.now() - began),
    };
  } finally {
    try {
      await churn?.stop();
    } finally {
      await cluster.stop();
    }
  }
}

/** Waits until all rounds are done and no kill point waits; orders further rounds as long as one waits. */
async function playToTheEnd(
  { order, limitMs }: UnderFire,
  cluster: Cluster,
  gateway: GatewayClient,
  injector: FaultInjector,
  began: number,
): Promise<LedgerRound[]> {
  const { run } = await place(cluster, order);
  let endedAt: number | undefined;
  for (;;) {
    await sleep(POLL_MS);
    if (performance.now() - began > limitMs)
      throw new RollmeshError(
        'give-up',
        'soak.endless',
        `The run has not ended after ${Math.round(limitMs / 1000)} s.`,
        { next: `The logs are in ${cluster.stateDir}.` },
      );
    cluster.revive();
    // The mesh may be down at this moment; and if an answer was lost, it may have accepted an order twice.
    const state = await gateway.getRun(run).catch(() => null);
    const rounds = await gateway.listRounds(run).catch(() => []);
    const ended = rounds.filter(({ state }) => state === 'done' || state === 'failed').length;
    if (!state || ended < state.target) continue;
    // The last kill point may still be reached: the acknowledgement follows the commit.
    endedAt ??= performance.now();
    if (injector.busy && performance.now() - endedAt < GRACE_MS) continue;
    endedAt = undefined;
    if (injector.busy) {
      await place(cluster, { ...order, rounds: 1 });
      continue;
    }
    await injector.settled();
    return readLedger(gateway, run);
  }
}

/** Repeats an order until the mesh has accepted it. A second order in the same second would count as the same delivery. */
async function place(cluster: Cluster, order: RunOrder): ReturnType<typeof orderRounds> {
  for (;;) {
    try {
      return await orderRounds(cluster.url, cluster.secrets.WEBHOOK_SECRET, order);
    } catch {
      await sleep(1_100);
    }
  }
}

async function differingVersions(
  { recipes, order }: UnderFire,
  ledger: readonly LedgerRound[],
): Promise<number[]> {
  const device = await openDevice({ device: 'cpu', threads: THREADS });
  try {
    const wanted = await referenceRun(
      { ...runOf(recipes, order), rounds: ledger.length },
      await readStart('arithmetic-base'),
    );
    return ledger.flatMap(({ round: { index }, manifest }) =>
      manifest && sameFiles(manifest.files, wanted[index]!) ? [] : [index],
    );
  } finally {
    device.close();
  }
}

const sameFiles = (files: Readonly<Record<string, { readonly sha256: string }>>, wanted: FileHashes) =>
  Object.keys(files).length === Object.keys(wanted).length &&
  Object.entries(files).every(([file, { sha256 }]) => wanted[file as VersionFile] === sha256);
