/**
 * Sends ended rounds as traces and the mesh's metrics to an OpenTelemetry endpoint, once a minute by the clock. A round is sent once its
 * version is evaluated, or after a while; what was not taken is sent again for a day.
 */

import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { markTraced, untracedRounds } from '../store/rounds.ts';
import { meshStatistics } from '../store/statistics.ts';
import { usageOf } from '../store/usage.ts';
import { meshMetrics } from './mesh-metrics.ts';
import { metricsBody, traceBody } from './otlp.ts';
import { queueDepths } from './queue-depths.ts';
import type { Services } from './services.ts';
import type { Telemetry } from './telemetry-settings.ts';

const DAY_MS = 24 * 3600 * 1000;
/** How long a round's evaluation is waited for: the learner evaluates after the round has ended, and not every round. */
const EVALUATION_MS = 120_000;
const TIMEOUT_MS = 10_000;
const AT_ONCE = 20;

/** A failure is logged and passes: telemetry never stops the clock. */
export async function sendTelemetry(services: Services): Promise<void> {
  const { telemetry } = services;
  if (!telemetry) return;
  for (const [what, send] of [
    ['traces', sendTraces],
    ['metrics', sendMetrics],
  ] as const)
    try {
      await send(services, telemetry);
    } catch (error) {
      log('warn', 'telemetry.failed', { what, ...failureOf(error) });
    }
}

/** The endpoint answered that it does not take what was sent. */
class Refused extends Error {}
const REFUSALS = [400, 413, 422];

async function sendTraces({ db, now }: Services, telemetry: Telemetry): Promise<void> {
  const rows = await untracedRounds(db, now() - DAY_MS, now() - EVALUATION_MS, AT_ONCE);
  if (!rows.length) return;
  const used = await usageOf(
    db,
    rows.map(({ id }) => id),
  );
  const send = async (some: typeof rows) => {
    await post(telemetry, 'traces', traceBody(some.map((row) => ({ row, used: used.get(row.id) ?? {} }))));
    await markTraced(
      db,
      some.map(({ id }) => id),
      now(),
    );
  };
  try {
    await send(rows);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // One of them may be what it does not take.
    for (const row of rows)
      await send([row]).catch((cause: unknown) =>
        log('warn', 'telemetry.failed', { what: 'traces', round: row.id, ...failureOf(cause) }),
      );
  }
}

async function sendMetrics(services: Services, telemetry: Telemetry): Promise<void> {
  const [statistics, depths] = await Promise.all([meshStatistics(services.db), queueDepths(services)]);
  await post(
    telemetry,
    'metrics',
    metricsBody(meshMetrics(statistics, depths, services.now()), services.now()),
  );
}

async function post({ endpoint, headers }: Telemetry, what: string, body: object): Promise<void> {
  const response = await fetch(`${endpoint}/v1/${what}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (response.ok) return;
  const said = `The OpenTelemetry endpoint answered ${response.status} to ${what}.`;
  throw REFUSALS.includes(response.status) ? new Refused(said) : new Error(said);
}
