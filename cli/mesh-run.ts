/** `npm start`: the local mesh, the learner beside it, a signed webhook for the rounds that are missing, and their lines. */
import { GatewayClient } from '../api/gateway-client.ts';
import type { Registry } from '../core/registry.ts';
import { runIdOf } from '../core/schema/round.ts';
import { type RoundLine, summarize } from '../core/schema/summary.ts';
import type { Mesh } from '../mesh/start.ts';
import { runOf } from '../recipes/run-order.ts';
import { followRun } from './follow-run.ts';
import { ensureShipped, SEED_POLICY } from './import-policy.ts';
import { superviseLearner } from './learner-process.ts';
import type { OpenRecipes } from './recipe-modules.ts';
import { orderOf, type StartOptions } from './run-options.ts';
import type { RunPrinter } from './run-printer.ts';
import { orderRounds } from './signed-webhook.ts';
import { startSharedMesh } from './state-access.ts';

export async function runInMesh(
  options: StartOptions,
  { registry, named, modules }: OpenRecipes,
  stateDir: string,
  printer: RunPrinter,
): Promise<void> {
  const began = performance.now();
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const own = await startSharedMesh({
    stateDir,
    port: options.port,
    recipes: modules.map(({ file }) => file),
  });
  const { mesh } = own;
  const gateway = new GatewayClient({ url: mesh.url, token: mesh.secrets.LEARNER_TOKEN });
  // Webhooks may ask for any recipe.
  const starts = (options.serve ? registry.recipes : named).map(({ start }) => start);
  for (const start of new Set([SEED_POLICY, ...starts])) await ensureShipped(gateway, start);
  const learner = superviseLearner(mesh, stateDir, [
    `--eval-every=${options.evalEvery}`,
    // Locally a pull costs nothing, and a round takes seconds.
    '--idle-ms=150',
    `--device=${options.device}`,
    ...modules.map(({ file }) => `--recipe=${file}`),
    ...(options.threads ? [`--threads=${options.threads}`] : []),
    ...(options.revectorize ? [] : ['--no-revectorize']),
    `--audit-fraction=${options.auditFraction}`,
  ]);
  try {
    if (options.serve) printer.waiting(mesh.url);
    else await playRun(options, registry, mesh, gateway, printer, stop.signal, began);
    const stays = options.serve || (options.rounds === undefined && !options.headless);
    if (stays && !stop.signal.aborted) {
      if (!options.serve) printer.waiting(mesh.url);
      await new Promise<void>((resolve) =>
        stop.signal.addEventListener('abort', () => resolve(), { once: true }),
      );
    }
  } finally {
    await learner.stop();
    await own.stop();
  }
}

async function playRun(
  options: StartOptions,
  recipes: Registry,
  mesh: Mesh,
  gateway: GatewayClient,
  printer: RunPrinter,
  signal: AbortSignal,
  began: number,
): Promise<void> {
  const order = orderOf(options);
  const { recipe, settings, rounds } = runOf(recipes, order);
  const run = runIdOf(settings);
  const before = await gateway.listRounds(run);
  const done = before.filter((round) => round.stage === 'done').length;
  const from = before.length ? 0 : ((await gateway.getPolicy(settings.policy))?.current ?? 0);
  printer.started({ settings, rounds, page: mesh.url, device: options.device, done, from });
  const target = before.length ? (await gateway.getRun(run)).target : 0;
  if (target < rounds)
    await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, { ...order, rounds: rounds - target });
  const lines: RoundLine[] = [];
  const followed = { gateway, run, rounds, evaluateEvery: options.evalEvery, signal };
  for await (const line of followRun(followed)) {
    if (line.report.start) printer.evaluatedStart(line.report.start);
    lines.push(line);
    if (line.round > done) printer.round(line);
  }
  if (signal.aborted) return;
  const start = lines[0]?.report.start;
  const duplicates = lines.reduce((sum, line) => sum + (line.report.duplicates ?? 0), 0);
  const wallMs = Math.round(performance.now() - began);
  printer.finished(
    summarize(settings, recipe, start ? { evaluation: start } : {}, lines, wallMs, duplicates),
  );
}
