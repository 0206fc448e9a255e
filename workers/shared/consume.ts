/**
 * The queue consumer of all stages. The messages of a batch are handled together, round by round; where that fails, one by one, so
 * that a poison message fails no other. A failure that may pass is retried with back-off; any other becomes a dead letter with its
 * cause. No message is acknowledged before the result that it asks for is stored.
 */
import type { Message } from '@cloudflare/workers-types';
import * as v from 'valibot';
import type { Usage } from '../../core/cost/usage.ts';
import { RollmeshError } from '../../core/errors.ts';
import type { Statement } from '../store/database.ts';
import type { Failure } from '../store/schema.ts';
import { failureOf } from './failures.ts';
import { log } from './log.ts';
import { countUsed, metered } from './meter.ts';
import { messageOperations } from './metered-bindings.ts';

/** Deliveries of a message, the first included: `max_retries` of wrangler.toml plus 1. */
export const MAX_DELIVERIES = 6;

export interface Consumer<T extends { readonly round: string }> {
  readonly stage: string;
  readonly schema: v.GenericSchema<unknown, T>;
  /** Does what the messages of one round ask for; it is idempotent. What it returns is written with the usage, and may be lost with it. */
  readonly work: (round: string, messages: readonly T[]) => Promise<readonly Statement[]>;
  /** Stores a message that will not be tried again, and marks its round or group as failed. */
  readonly storeUndeliverable: (body: unknown, attempts: number, failure: Failure) => Promise<void>;
  /** Records what handling messages of a round used, failures included, and what the work left to be written. */
  readonly account: (round: string, used: Usage, left: readonly Statement[]) => Promise<void>;
  /** The first back-off in seconds; it doubles with every delivery, up to five minutes. */
  readonly retrySeconds: number;
}

interface Item<T> {
  readonly message: Message;
  readonly body: T;
}

export async function consume<T extends { readonly round: string }>(
  consumer: Consumer<T>,
  messages: readonly Message[],
): Promise<void> {
  const rounds = new Map<string, Item<T>[]>();
  for (const message of messages) {
    const parsed = v.safeParse(consumer.schema, message.body);
    if (!parsed.success) {
      await settle(consumer, message, unreadable(consumer.stage, parsed.issues[0].message));
      continue;
    }
    const items = rounds.get(parsed.output.round) ?? [];
    items.push({ message, body: parsed.output });
    rounds.set(parsed.output.round, items);
  }
  for (const [round, items] of rounds) await workAccounted(consumer, round, items);
}

/** Does the work and records its usage at the end. A failure to record it does not fail the work. */
async function workAccounted<T extends { readonly round: string }>(
  consumer: Consumer<T>,
  round: string,
  items: readonly Item<T>[],
): Promise<void> {
  const { result, used } = await metered(
    () => {
      countUsed('requests', 1);
      for (const { body } of items) countUsed('queueOperations', messageOperations(body));
      return workOff(consumer, round, items);
    },
    { exact: true },
  );
  try {
    await consumer.account(round, used, result.status === 'fulfilled' ? result.value : []);
  } catch (error) {
    log('warn', `${consumer.stage}.unaccounted`, { round, ...failureOf(error) });
  }
  if (result.status === 'rejected') throw result.reason;
}

function acknowledge(message: Message): void {
  message.ack();
  countUsed('queueOperations', messageOperations(message.body));
}

async function workOff<T extends { readonly round: string }>(
  consumer: Consumer<T>,
  round: string,
  items: readonly Item<T>[],
): Promise<readonly Statement[]> {
  const started = Date.now();
  try {
    const left = await consumer.work(
      round,
      items.map((item) => item.body),
    );
    for (const { message } of items) acknowledge(message);
    log('info', `${consumer.stage}.done`, { round, messages: items.length, ms: Date.now() - started });
    return left;
  } catch (error) {
    if (items.length === 1) {
      await settle(consumer, items[0]!.message, error);
      return [];
    }
    log('warn', `${consumer.stage}.split`, { round, messages: items.length, ...failureOf(error) });
    const left: Statement[] = [];
    for (const item of items) left.push(...(await workOff(consumer, round, [item])));
    return left;
  }
}

async function settle<T extends { readonly round: string }>(
  consumer: Consumer<T>,
  message: Message,
  error: unknown,
): Promise<void> {
  const failure = failureOf(error);
  const again = failure.kind === 'retry' && message.attempts < MAX_DELIVERIES;
  log(again ? 'warn' : 'error', `${consumer.stage}.${again ? 'retry' : 'dead-letter'}`, {
    id: message.id,
    attempts: message.attempts,
    ...failure,
  });
  if (!again) {
    try {
      await consumer.storeUndeliverable(message.body, message.attempts, failure);
      acknowledge(message);
      return;
    } catch (cause) {
      log('error', `${consumer.stage}.dead-letter-failed`, { id: message.id, ...failureOf(cause) });
    }
  }
  message.retry({ delaySeconds: Math.min(300, consumer.retrySeconds * 2 ** (message.attempts - 1)) });
}

const unreadable = (stage: string, why: string) =>
  new RollmeshError('wrong-input', 'message.unreadable', `A ${stage} message cannot be read: ${why}`, {
    next: 'Messages come from the mesh itself: look for a Worker of another version, or for another sender.',
  });
