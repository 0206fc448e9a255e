/** `npx rollmesh start`: starts the local mesh and the learner, orders the missing rounds by a signed webhook, and prints a line for each. */
import { join } from 'node:path';
import { serverDevice } from '../../core/plan/by-server.ts';
import { calledOf, type Registry } from '../../core/recipe/registry.ts';
import type { EvaluationReport } from '../../core/schema/report.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { type RoundLine, summarize } from '../../core/schema/summary.ts';
import type { Mesh } from '../../local/mesh/start.ts';
import { runOf } from '../../recipes/run-order.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { environmentKey, environmentVars } from '../environment/options.ts';
import { superviseLearner } from '../learner/learner-process.ts';
import { watchMesh } from '../mesh-watch.ts';
import { type LocalNodes, shareLines, startLocalNodes } from '../node/local-nodes.ts';
import type { OpenRecipes } from '../recipe-modules.ts';
import { changedSince, runName } from '../runs.ts';
import { whenNpmEnds } from '../shared/npm-parent.ts';
import { orderOf, type StartOptions } from '../shared/run-options.ts';
import { gatewayOf, startSharedMesh } from '../shared/state-access.ts';
import { modulesInUse, storeTasks } from '../shared/store-tasks.ts';
import { agentsHeard } from './agents-heard.ts';
import { followAll } from './follow-all.ts';
import { followRun, missingRounds } from './follow-run.ts';
import { type Heartbeat, openHeartbeat, waitingFor } from './heartbeat.ts';
import { inFlightWords } from './in-flight.ts';
import type { RunPrinter } from './run-printer.ts';

/** Resolves once the signal has aborted. */
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Calls `stop` on each Ctrl-C and SIGTERM, and when npm is ended alone. There may be several calls, since npm passes on what the terminal also
 * sends itself. It replaces the listeners that Miniflare has set by now, which would end the process at once.
 */
function onSignal(stop: () => void): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(name).on(name, stop);
  whenNpmEnds(stop);
}

/** On one machine, isolates would only take the cores of the nodes; and a node that is killed should cost a demonstration little time. */
const LOCAL_NODES = { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '20' };

/** The reason for which a run is no longer followed if nobody stopped it. */
const FAILED = new Error('The command has failed.');
/** The longest wait for learner and mesh to end, ms, so that a workerd that is gone or hangs does not block the command. */
const CLEANUP_MS = 15_000;

export async function runInMesh(
  options: StartOptions,
  { registry, named, modules }: OpenRecipes,
  stateDir: string,
  plain: RunPrinter,
): Promise<void> {
  const began = performance.now();
  const stop = new AbortController();
  const { signal } = stop;
  // The loading of the modules counts: on a busy machine it takes long.
  const heartbeat = openHeartbeat(plain, 0);
  const { printer } = heartbeat;
  // Said at once: before the mesh is up, listeners that Miniflare sets may end the process in the same moment.
  let up = false;
  const early = () => {
    if (!up && !signal.aborted) printer.stopped(0, 0);
    stop.abort();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, early);
  plain.remark('starting the mesh: compiling its Workers');
  heartbeat.waitFor(() => 'starting the mesh');
  const key = environmentKey();
  const notice = (text: string) => printer.notice(text);
  const starting = startSharedMesh({
    stateDir,
    port: options.port,
    ...(options.outside === undefined ? {} : { outside: options.outside }),
    recipes: modules.map(({ file }) => file),
    vars: { ...(options.nodes ? LOCAL_NODES : {}), ...environmentVars(options) },
    secrets: key === undefined ? {} : { ORS_API_KEY: key },
  });
  const learner = superviseLearner(
    starting.then(({ mesh }) => mesh),
    stateDir,
    learnerArguments(options, registry, modules),
    { notice, signal },
  );
  const { givenUp } = learner;
  const own = await Promise.race([starting, aborted(signal)])
    .catch(async (error) => {
      await learner.stop();
      throw error;
    })
    .finally(() => heartbeat.waitFor(null));
  if (!own) {
    await learner.stop();
    return;
  }
  up = true;
  const { mesh } = own;
  onSignal(() => stop.abort());
  const gone = watchMesh(mesh, join(stateDir, 'mesh.log'), notice, signal);
  const gateway = gatewayOf(mesh);
  const watched = <T>(work: Promise<T>, ...alive: readonly Promise<never>[]) =>
    Promise.race([work, gone, ...alive]);
  let nodes: LocalNodes | undefined;
  try {
    if (options.nodes)
      nodes = await startLocalNodes(mesh.url, gateway, stateDir, options.nodes, { notice, signal });
    const inUse = await watched(modulesInUse(gateway, { named, modules }));
    await watched(storeTasks(gateway, inUse, (line) => printer.remark(line)));
    heartbeat.waitFor(null);
    if (options.serve || options.resume) {
      await watched(takeUp(options, mesh, gateway, printer));
      if (options.serve) printer.waiting(options.outside ?? mesh.url);
    } else
      await watched(
        playRun(options, registry, mesh, gateway, heartbeat, (text) => plain.status(text), signal, began),
        givenUp,
      );
    heartbeat.waitFor(null);
    if ((stays(options) || options.resume) && !signal.aborted) {
      if (!options.serve && !options.resume) printer.waiting(mesh.url);
      // Runs may be ordered by webhook as well.
      const all = {
        gateway,
        registry,
        page: mesh.url,
        device: trainsOn(options),
        evaluateEvery: options.evalEvery,
      };
      const resumed = options.resume && !options.serve;
      await watched(Promise.race([followAll(all, printer, signal, resumed), aborted(signal)]), givenUp);
    }
  } finally {
    // Work that is still under way ends silently. After Ctrl-C this has no effect.
    stop.abort(FAILED);
    heartbeat.stop();
    const ended = Promise.allSettled([learner.stop(), nodes?.stop().then(own.stop) ?? own.stop()]);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, CLEANUP_MS))]);
  }
}

/** Does the mesh stay up when the run is over? */
const stays = ({ serve, rounds, headless }: StartOptions): boolean =>
  serve || (rounds === undefined && !headless);

/** Where the learner trains, in words. */
const trainsOn = ({ backend, device }: StartOptions): string => (backend ? serverDevice(backend) : device);

const learnerArguments = (options: StartOptions, registry: Registry, modules: OpenRecipes['modules']) => {
  const { evalEvery, device, threads, revectorize, auditFraction, serve, resume } = options;
  const { backend, baseModel } = options;
  return [
    ...(serve || resume ? [] : [`--run=${runIdOf(runOf(registry, orderOf(options)).settings)}`]),
    `--eval-every=${evalEvery}`,
    // Locally a pull costs nothing, and a round takes seconds.
    '--idle-ms=150',
    `--device=${device}`,
    ...modules.map(({ file }) => `--recipe=${file}`),
    ...(threads ? [`--threads=${threads}`] : []),
    ...(revectorize ? [] : ['--no-revectorize']),
    ...(backend ? [`--backend=tinker:${backend}`] : []),
    ...(baseModel ? [`--base-model=${baseModel}`] : []),
    `--audit-fraction=${auditFraction}`,
  ];
};

/** How many paused runs are named. */
const NAMED_RUNS = 3;

/**
 * Goes on with the runs that were interrupted and are asked for: with `run`, or with all of them where the options say so. The others are named, and
 * left as they are. `begun`: the run that is about to begin.
 */
async function takeUp(
  { resume }: Pick<StartOptions, 'resume'>,
  mesh: Mesh,
  gateway: GatewayClient,
  printer: RunPrinter,
  run?: string,
  begun?: Parameters<typeof changedSince>[0],
): Promise<void> {
  const paused = (await gateway.listRuns()).filter(({ state }) => state === 'paused');
  const asked = resume ? paused : paused.filter(({ id }) => id === run);
  for (const { id } of asked) await gateway.resumeRun(id);
  // What their open rounds miss is sent by the clock.
  if (asked.length) await mesh.cron();
  const left = paused.filter((one) => !asked.includes(one));
  const changed = begun ? changedSince(begun, left) : null;
  if (changed !== null) printer.notice(changed);
  if (resume && !asked.length) printer.remark('no run of this folder was interrupted');
  if (!left.length) return;
  const named = left
    .slice(0, NAMED_RUNS)
    .map((one) => `${runName(one)}, ${one.done} of ${one.target} rounds`);
  const more = left.length > NAMED_RUNS ? `; and ${left.length - NAMED_RUNS} more` : '';
  printer.remark(
    `${left.length === 1 ? '1 run is' : `${left.length} runs are`} paused: ${named.join('; ')}${more}. --resume goes on with ${left.length === 1 ? 'it' : 'them'}.`,
  );
}

async function playRun(
  options: StartOptions,
  recipes: Registry,
  mesh: Mesh,
  gateway: GatewayClient,
  heartbeat: Heartbeat,
  status: RunPrinter['status'],
  signal: AbortSignal,
  began: number,
): Promise<void> {
  const { printer } = heartbeat;
  const order = orderOf(options);
  const { recipe, settings, rounds } = runOf(recipes, order);
  const run = runIdOf(settings);
  const before = await gateway.listRounds(run);
  const begun = before.length ? undefined : { settings, ...calledOf(recipe) };
  await takeUp(options, mesh, gateway, printer, run, begun);
  const over = before.filter(({ state }) => state === 'done' || state === 'failed').map(({ index }) => index);
  const done = Math.max(0, ...over);
  const missing = missingRounds(rounds, before, before.length ? await gateway.getRun(run) : null);
  const from = before.length ? 0 : ((await gateway.getPolicy(settings.policy))?.current ?? 0);
  const device = trainsOn(options);
  printer.started({
    settings,
    ...calledOf(recipe),
    rounds: missing.last,
    page: mesh.url,
    device,
    done,
    from,
  });
  if (missing.order > 0)
    await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, { ...order, rounds: missing.order });
  if (recipe.agent && options.environment !== undefined)
    printer.notice(`a Worker of the mesh holds the episodes of this run in ${options.environment}`);
  else if (recipe.agent) {
    const { url } = await gateway.getAgentAccess(run);
    // Not the token: what is printed here is kept in logs.
    printer.remark(`waiting for agents at ${url}; \`npx rollmesh agents last\` prints their token`);
  }
  const lines: RoundLine[] = [];
  let start: EvaluationReport | undefined;
  heartbeat.waitFor(async () => {
    const [newest] = await gateway.listRounds(run);
    return waitingFor(newest && (await gateway.getRound(newest.id)), missing.last);
  });
  const replaceLine = (counted: RoundLine) => {
    lines[lines.findIndex(({ round }) => round === counted.round)] = counted;
  };
  const follow = async () => {
    const followed = {
      gateway,
      run,
      rounds: missing.last,
      evaluateEvery: options.evalEvery,
      signal,
      start: (evaluation: EvaluationReport) => {
        start = evaluation;
        printer.evaluatedStart(evaluation);
      },
      // JSON has each round once, with all that is known of it.
      ...(options.json ? {} : { counted: replaceLine }),
      passed: (round: number, reason: string) => printer.notice(`round ${round} failed: ${reason}`),
      // Not through the heartbeat: a status line that replaces itself is no line that a log would have.
      watch: async () => status(inFlightWords(await gateway.roundsUnderWay(run))),
    };
    for await (const line of followRun(followed)) {
      if (signal.aborted) return;
      lines.push(line);
      if (line.round > done) printer.round(line);
    }
  };
  // Ctrl-C also ends the mesh's process, so an answer may never come.
  await Promise.race([follow(), aborted(signal)]);
  if (signal.reason === FAILED) return;
  const stopped = signal.aborted;
  if (stopped) printer.stopped(lines.at(-1)?.round ?? 0, missing.last);
  if (stopped && !lines.length) return;
  const duplicates = lines.reduce((sum, line) => sum + (line.report.duplicates ?? 0), 0);
  const wallMs = Math.round(performance.now() - began);
  if (options.nodes) for (const line of shareLines(await gateway.listNodes())) printer.notice(line);
  printer.finished(
    summarize(settings, recipe, start ? { evaluation: start } : {}, lines, wallMs, duplicates),
  );
  // A Worker goes with the mesh: it need not hear that the run is over.
  if (!recipe.agent || options.environment !== undefined || stopped || stays(options)) return;
  heartbeat.waitFor(() => 'waiting until agents have heard that the run is over');
  await Promise.race([agentsHeard(gateway, run, signal), aborted(signal)]);
}
