/**
 * Injects faults into D1, R2, the queues and the clock: D1 is overloaded or loses the answer to a write that it has done, objects
 * come late or their put fails, messages are sent twice, late or out of order, and the time jumps. Which calls get a fault is
 * drawn from a seed.
 */
import { Random } from '../../core/random.ts';
import type { FaultSettings } from './fault-settings.ts';

export interface FaultyEnv extends Record<string, unknown> {
  /** FaultSettings as JSON. */
  readonly FAULTS: string;
}

/** The longest wait for an object and the longest jump of the clock, in ms. */
const SLOW_MS = 400;
const JUMP_MS = 120_000;
/** The number of a Worker's calls that a jump of the clock lasts. */
const JUMP_CALLS = 10;

const OVERLOADED = 'D1_ERROR: D1 DB is overloaded. Requests queued for too long.';
const LOST = 'D1_ERROR: Network connection lost.';

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function openFaults({ seed, rate, copies = 1 }: FaultSettings) {
  const random = new Random(`faults/${seed}`);
  const hit = () => random.bool(rate);
  const faulty: Readonly<Record<string, (binding: never) => unknown>> = {
    DB: (d1: D1Database) => faultyD1(d1, hit),
    BUCKET: (bucket: R2Bucket) => faultyBucket(bucket, hit, random),
    ...Object.fromEntries(
      ['PROPOSE', 'ROLLOUT', 'JUDGE', 'SCORED'].map((name) => [
        name,
        (queue: Queue) => faultyQueue(queue, hit, random, copies),
      ]),
    ),
  };
  const wrapped = new Map<string, unknown>();
  return {
    /** The environment with its bindings wrapped in faults; each binding is wrapped once. */
    bindings(env: FaultyEnv): Record<string, unknown> {
      for (const [name, wrap] of Object.entries(faulty))
        if (name in env && !wrapped.has(name)) wrapped.set(name, wrap(env[name] as never));
      return { ...env, ...Object.fromEntries(wrapped) };
    },
    /** Call this once for each request or batch: the time may jump, and returns to normal after a while. */
    clock: jumpingClock(hit, random),
  };
}

function jumpingClock(hit: () => boolean, random: Random): () => void {
  const { now } = Date;
  let left = 0;
  return () => {
    if (left > 0 && --left === 0) Date.now = now;
    if (left > 0 || !hit()) return;
    const offset = random.int(2 * JUMP_MS) - JUMP_MS;
    left = JUMP_CALLS;
    Date.now = () => now() + offset;
  };
}

/** An object with some of its methods replaced; the others stay bound to the original. */
function over<T extends object>(original: T, methods: Partial<T>): T {
  return new Proxy(original, {
    get(target, name) {
      if (name in methods) return methods[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function faultyD1(d1: D1Database, hit: () => boolean): D1Database {
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  /** A call may fail before it is done, or be done and lose its answer. */
  const risky = async <R>(run: () => Promise<R>): Promise<R> => {
    if (hit()) throw new Error(OVERLOADED);
    const result = await run();
    if (hit()) throw new Error(LOST);
    return result;
  };
  const faultyStatement = (statement: D1PreparedStatement): D1PreparedStatement => {
    const laid = over(statement, {
      bind: (...values: unknown[]) => faultyStatement(statement.bind(...values)),
      run: (() => risky(() => statement.run())) as D1PreparedStatement['run'],
      all: (() => risky(() => statement.all())) as D1PreparedStatement['all'],
      first: ((column: string) => risky(() => statement.first(column))) as D1PreparedStatement['first'],
      raw: ((options: { columnNames?: false }) =>
        risky(() => statement.raw(options))) as D1PreparedStatement['raw'],
    });
    originals.set(laid, statement);
    return laid;
  };
  return over(d1, {
    prepare: (query) => faultyStatement(d1.prepare(query)),
    batch: (statements) =>
      risky(() => d1.batch(statements.map((statement) => originals.get(statement) ?? statement))),
  });
}

function faultyBucket(bucket: R2Bucket, hit: () => boolean, random: Random): R2Bucket {
  const late = () => (hit() ? sleep(random.int(SLOW_MS)) : undefined);
  return over(bucket, {
    get: (async (...args: Parameters<R2Bucket['get']>) => {
      await late();
      if (hit()) throw new Error('get: We encountered an internal error. Please try again. (10001)');
      return bucket.get(...args);
    }) as R2Bucket['get'],
    put: (async (...args: Parameters<R2Bucket['put']>) => {
      await late();
      if (hit()) throw new Error('put: We encountered an internal error. Please try again. (10001)');
      const put = await bucket.put(...args);
      if (hit()) throw new Error('put: Network connection lost.');
      return put;
    }) as R2Bucket['put'],
  });
}

function faultyQueue(queue: Queue, hit: () => boolean, random: Random, copies: number): Queue {
  return over(queue, {
    sendBatch: async (messages, options) => {
      if (hit()) throw new Error('Queue sendBatch failed: Internal Server Error');
      const all = [...messages];
      for (let copy = 1; copy < copies; copy++) await queue.sendBatch(all, options);
      const sent = hit() ? random.shuffle(all) : all;
      const done = await queue.sendBatch(sent, hit() ? { ...options, delaySeconds: 1 } : options);
      if (hit()) await queue.sendBatch(random.shuffle(sent), options);
      return done;
    },
  });
}
