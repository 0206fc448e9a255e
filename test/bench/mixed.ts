/**
 * One run, sampled by a browser tab, a Node process and the mesh's isolates together, and the same run by isolates alone: whether every version
 * has the same bytes, what share each had of the first, and what the audit found of each. Nothing is timed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { readStoredRound } from '../../cli/audit/read-round.ts';
import { superviseLearner } from '../../cli/learner/learner-process.ts';
import { type LocalNodes, startLocalNodes } from '../../cli/node/local-nodes.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import { wrongInput } from '../../core/errors.ts';
import type { RoundState } from '../../core/schema/answers.ts';
import { weightsFile } from '../../core/schema/policy.ts';
import { thisMachine } from '../../local/machine.ts';
import { type Mesh, startMesh } from '../../local/mesh/start.ts';
import { ensureShipped } from '../../local/starts.ts';
import type { RunOrder } from '../../recipes/run-order.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { chromiumPath, openBrowser } from './browser/chromium.ts';
import { lendTab, samplesOfTab, stopTab } from './browser/node-tab.ts';
import { checksOf, differingVersions, partsOf, type StoredPart } from './mixed/parts.ts';
import { endedRounds } from './rounds.ts';

const RESULT = 'test/bench/results/mixed.json';
/** Of a run that was played and was not what it must be; 1 is that of a run that could not be played. */
const WRONG = 2;
/** All that anybody sampled is sampled again before it is trained. */
const LEARNER = ['--device=cpu', '--threads=1', '--idle-ms=20', '--eval-every=0', '--audit-fraction=1'];
/** What was leased and not answered is taken back within this time of the lease's end. */
const CRON_MS = 500;
const POLL_MS = 100;
/** A tab on a busy machine opens its engine within seconds. */
const JOIN_MS = 120_000;

interface OpenMesh {
  readonly mesh: Mesh;
  readonly gateway: GatewayClient;
  readonly stateDir: string;
}

/** A mesh with its learner, for as long as `work` takes. */
async function inMesh<T>(notice: (text: string) => void, work: (open: OpenMesh) => Promise<T>): Promise<T> {
  const stateDir = mkdtempSync(join(tmpdir(), 'rollmesh-mixed-'));
  const mesh = await startMesh({ stateDir, cronMs: CRON_MS, rateLimit: 1_000_000 });
  const learner = superviseLearner(mesh, stateDir, LEARNER, { notice });
  try {
    const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
    await ensureShipped(gateway);
    return await Promise.race([work({ mesh, gateway, stateDir }), learner.givenUp]);
  } finally {
    await learner.stop();
    await mesh.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Plays the order, and reads what is stored of its rounds. */
async function play({ mesh, gateway }: OpenMesh, order: RunOrder): Promise<StoredPart[]> {
  const { run } = await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, order);
  const rounds = await endedRounds(gateway, run, order.rounds);
  return Promise.all(rounds.map((round) => storedPart(mesh, gateway, round)));
}

async function storedPart(mesh: Mesh, gateway: GatewayClient, round: RoundState): Promise<StoredPart> {
  const ledger = new AuditLedger();
  const { proposals, groups } = await readStoredRound(gateway, round, mesh.secrets.MESH_KEY, ledger);
  const sampled = [
    ...proposals.samples.map((sample) => ({ group: null, sample })),
    ...groups.flatMap(({ group, samples, judgments }) =>
      [...samples, ...judgments].map((sample) => ({ group, sample })),
    ),
  ];
  return {
    sampled: sampled.map(({ group, sample: { id, ids } }) => ({ id, group, tokens: ids.length })),
    work: (await gateway.getRoundWork(round.id)).work,
    shares: await gateway.getShares(round.id),
    groups: await gateway.getGroups(round.id),
    manifest: await gateway.getManifest({ name: round.spec.settings.policy, version: round.version! }),
    damage: ledger.findings.map(({ message }) => message),
  };
}

/** Waits until both nodes have asked for work, so that the first round has them, too. */
async function joined(gateway: GatewayClient, count: number): Promise<void> {
  const until = performance.now() + JOIN_MS;
  for (;;) {
    const nodes = await gateway.listNodes();
    if (nodes.length === count && nodes.every(({ state }) => state === 'idle')) return;
    if (performance.now() > until)
      throw new Error(
        `the nodes have not joined: ${nodes.map(({ name, state }) => `${name} ${state}`).join(', ')}`,
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The run with a tab and a process beside the isolates. */
async function playMixed(open: OpenMesh, order: RunOrder, notice: (text: string) => void) {
  const { mesh, gateway, stateDir } = open;
  const over = new AbortController();
  let browser: Browser | undefined;
  let own: LocalNodes | undefined;
  try {
    own = await startLocalNodes(mesh.url, gateway, stateDir, 1, { notice, signal: over.signal });
    browser = await openBrowser();
    const page = await browser.newPage();
    page.on('pageerror', ({ message }) => notice(`the tab: ${message}`));
    await lendTab(page, mesh.url, (await gateway.makeNode('tab')).token, 'kernels');
    await joined(gateway, 2);
    const chromium = browser.version();
    const rounds = await play(open, order);
    const onTheTab = await samplesOfTab(page);
    await stopTab(page);
    return { rounds, nodes: await gateway.listNodes(), onTheTab, chromium };
  } finally {
    over.abort();
    await browser?.close();
    await own?.stop();
  }
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/**
 * `--rounds N` (10), `--seed N` (0), `--json`: one JSON object. Results also go to test/bench/results/mixed.json. It needs Chromium, in its usual
 * place or named in CHROMIUM. Exit status 2 where the run was played and something does not hold.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '10' },
      seed: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
    },
  });
  if (!chromiumPath)
    throw wrongInput('bench.chromium', 'There is no Chromium on this machine.', {
      expected: 'Chromium in its usual place, or its path in CHROMIUM',
      next: 'Install it, such as by `apt-get install chromium`.',
    });
  const say = (line: string) => {
    if (!values.json) console.log(line);
  };
  const order: RunOrder = {
    recipe: 'trio',
    seed: Number(values.seed),
    rounds: Number(values.rounds),
    freeze: [],
    engine: 'kernels',
  };
  const machine = thisMachine();
  const load = loadavg()[0];
  const { rounds, nodes, onTheTab, chromium } = await inMesh(say, (open) => playMixed(open, order, say));
  say(`${order.rounds} rounds with a tab and a process are trained; now by isolates alone`);
  const alone = await inMesh(say, (open) => play(open, order));
  const parts = partsOf(rounds, nodes);
  const checks = checksOf(rounds, parts, nodes, onTheTab, alone);
  const manifests = (of: readonly StoredPart[]) => of.map(({ manifest }) => manifest);
  const weights = ({ manifest }: StoredPart) => manifest.files[weightsFile()]!.sha256;
  const result = {
    bench: 'mixed',
    machine,
    chromium,
    load,
    order,
    parts,
    versions: rounds.map((round, i) => ({
      version: i + 1,
      files: Object.keys(round.manifest.files).length,
      mixed: weights(round),
      isolates: alone[i] ? weights(alone[i]) : null,
    })),
    differing: differingVersions(manifests(rounds), manifests(alone)),
    checks,
  };
  for (const { host, requests, shareOfRequests, tokens, shareOfTokens, audited, groups } of parts)
    say(
      `${host}: ${requests} requests (${percent(shareOfRequests)}), ${tokens} tokens (${percent(shareOfTokens)}); ` +
        `of its ${groups} groups ${audited.groups} audited, ${audited.right} right, ${audited.refused} refused`,
    );
  for (const { what, right } of checks) say(`${right ? 'holds' : 'DOES NOT HOLD'}: ${what}`);
  if (values.json) console.log(JSON.stringify(result));
  mkdirSync('test/bench/results', { recursive: true });
  writeFileSync(RESULT, `${JSON.stringify(result, null, 2)}\n`);
  if (checks.some(({ right }) => !right)) process.exitCode = WRONG;
}
