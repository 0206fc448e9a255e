/**
 * Notifies the operator of ended rounds: a POST to the operator's own address, signed as webhooks are. Delivery is at least once:
 * the clock repeats a POST for a day, until the address has answered with success.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { countGroups } from '../../store/groups.ts';
import { markTold, type RoundRow, untoldRounds } from '../../store/rounds.ts';
import { failureOf } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { requireSecret } from '../shared/secrets.ts';
import type { Services } from './services.ts';

const DAY_MS = 24 * 3600 * 1000;
const TIMEOUT_MS = 10_000;
const AT_ONCE = 10;

/** Signs "t.body" and returns `t=…,v1=…`, the format that verifySignature accepts. */
export const signBody = (secret: string, body: string, seconds: number): string =>
  `t=${seconds},v1=${bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(`${seconds}.${body}`)))}`;

export async function tellEnds(services: Services): Promise<void> {
  const { db, callback, now } = services;
  if (!callback) return;
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
  const { id, run, index, stage, version, reason, expected } = row;
  const groups = (await countGroups(db, [id])).get(id);
  const body = JSON.stringify({ round: id, run, index, stage, version, reason, expected, groups });
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-rollmesh-signature': signBody(secret, body, Math.floor(now() / 1000)),
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The callback answered ${response.status}.`);
}
