/**
 * Notifies the operator of ended rounds: a POST to the operator's own address, signed by Standard Webhooks' headers. Delivery is at least once:
 * the clock repeats a POST for a day, until the address has answered with success.
 */
import { standardHeaders } from '../../core/net/standard-webhook.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { requireSecret } from '../shared/secrets.ts';
import { countGroups } from '../store/groups.ts';
import { DAY_MS } from '../store/retention.ts';
import { markTold, type RoundRow, untoldRounds } from '../store/rounds.ts';
import type { Services } from './services.ts';

const TIMEOUT_MS = 10_000;
const AT_ONCE = 10;

/** A failure is logged and passes, as one of telemetry does. */
export async function tellEnds(services: Services): Promise<void> {
  if (!services.callback) return;
  try {
    await tellUntold(services, services.callback);
  } catch (error) {
    log('error', 'callback.failed', failureOf(error));
  }
}

async function tellUntold(services: Services, callback: NonNullable<Services['callback']>): Promise<void> {
  const { db, now } = services;
  const secret = requireSecret('CALLBACK_SECRET', callback.secret);
  for (const row of await untoldRounds(db, now() - DAY_MS, AT_ONCE)) {
    try {
      await post(services, callback.url, secret, row);
      await markTold(db, row.id, now());
    } catch (error) {
      log('warn', 'callback.failed', { round: row.id, ...failureOf(error) });
    }
  }
}

async function post({ db, now }: Services, url: string, secret: string, row: RoundRow): Promise<void> {
  const { id, run, index, state, version, reason, expected } = row;
  const groups = (await countGroups(db, [id])).get(id);
  const body = JSON.stringify({
    round: id,
    run,
    index,
    state,
    version,
    reason,
    expected,
    groups,
  });
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      // The id is the round's: a POST that is repeated says the same, and its receiver can tell.
      ...standardHeaders(secret, `round_${id}`, Math.floor(now() / 1000), body),
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The callback answered ${response.status}.`);
}
