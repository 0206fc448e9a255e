/**
 * Where the model's mesh runs. Limits are Cloudflare's published ones; latencies are not published and are assumptions, marked as such: what
 * they decide is checked by halving and doubling them.
 */
import type { Fit } from './fit.ts';
import type { Load, Platform } from './parameters.ts';

/** The machine that was measured: one thread for all isolates, one batch at a time of each queue. Waits for bindings occupy that thread too. */
export const localPlatform = ({ fetch }: Fit): Platform => ({
  cores: 1,
  concurrency: 1,
  queues: 1,
  ramp: false,
  proposers: 1,
  batch: 16,
  judgeWait: 0,
  delivery: 0,
  send: 0,
  d1: { read: 0, write: 0, row: 0, way: 0, reads: 3, writes: 2 },
  r2: { get: 0, put: 0 },
  learner: { poll: 0, pull: 0, fetch, width: 1, publish: 0, speed: 1 },
});

/** Work as the local machine does it, waits included. */
export const localWork = ({ work, wait }: Fit): Fit['work'] => ({
  ...work,
  rollout: { ...work.rollout, batch: work.rollout.batch + wait },
  judge: { ...work.judge, batch: work.judge.batch + wait },
});

/** The mesh as it is designed, on Cloudflare. */
export const DEPLOYED: Platform = {
  cores: null,
  // Published: 250 consumers a queue, added after a whole batch is done; wrangler.toml: 16 messages, a judge waits 1 s for more.
  concurrency: 250,
  queues: 1,
  ramp: true,
  proposers: 1,
  batch: 16,
  judgeWait: 1000,
  // Assumed.
  delivery: 100,
  send: 20,
  // Published: about 1 ms a read, several a write, one at a time. Assumed: a microsecond a row, 10 ms there and back. A batch reads the round,
  // its tasks and the version, and writes its progress and what it used.
  d1: { read: 1, write: 4, row: 0.001, way: 10, reads: 3, writes: 2 },
  // Assumed.
  r2: { get: 40, put: 60 },
  // Set by design: pauses of up to 5 s, so 2.5 s on average; objects fetched one after the other. Assumed: 50 ms a call.
  learner: { poll: 2500, pull: 50, fetch: 50, width: 1, publish: 1000, speed: 1 },
};

/** Limits of the design, each with what would lift it: the model says which of them binds by lifting one at a time. */
export const LIMITS: readonly {
  readonly name: string;
  readonly lift: (platform: Platform, load: Load) => { platform?: Platform; load?: Load };
}[] = [
  { name: 'isolates', lift: (_, load) => ({ load: { ...load, isolates: 4 * load.isolates } }) },
  {
    name: 'consumers a queue',
    lift: (platform) => ({ platform: { ...platform, queues: 4 * platform.queues } }),
  },
  { name: 'scaling after whole batches', lift: (platform) => ({ platform: { ...platform, ramp: false } }) },
  {
    name: 'one proposer',
    lift: (platform) => ({ platform: { ...platform, proposers: 4 * platform.proposers } }),
  },
  {
    name: 'messages a batch',
    lift: (platform) => ({ platform: { ...platform, batch: Math.max(1, platform.batch / 4) } }),
  },
  { name: 'a judge’s wait for a batch', lift: (platform) => ({ platform: { ...platform, judgeWait: 0 } }) },
  {
    name: 'D1',
    lift: (platform) => {
      const { read, write, row } = platform.d1;
      const d1 = { ...platform.d1, read: read / 4, write: write / 4, row: row / 4 };
      return { platform: { ...platform, d1 } };
    },
  },
  {
    name: 'R2',
    lift: (platform) => ({
      platform: { ...platform, r2: { get: platform.r2.get / 4, put: platform.r2.put / 4 } },
    }),
  },
  {
    name: 'fetching by the learner',
    lift: (platform) => ({
      platform: { ...platform, learner: { ...platform.learner, width: 4 * platform.learner.width } },
    }),
  },
  {
    name: 'the learner’s pauses',
    lift: (platform) => ({
      platform: { ...platform, learner: { ...platform.learner, poll: platform.learner.poll / 4 } },
    }),
  },
  {
    name: 'training',
    lift: (platform) => ({
      platform: { ...platform, learner: { ...platform.learner, speed: 4 * platform.learner.speed } },
    }),
  },
  {
    name: 'one round at a time',
    lift: (_, load) => ({
      load: { ...load, inFlight: 2 * load.inFlight, maxStaleness: 2 * load.maxStaleness },
    }),
  },
];

/**
 * What the design would become where it breaks: several queues a stage, proposals in parts, smaller batches without waiting, what a batch asks
 * D1 in one read and one transaction and counted rather than scanned, and a learner that fetches side by side, asks often and has a GPU.
 */
export const CHANGED: Platform = {
  ...DEPLOYED,
  queues: 40,
  proposers: 16,
  batch: 4,
  judgeWait: 0,
  d1: { ...DEPLOYED.d1, row: 0, reads: 1, writes: 1 },
  learner: { ...DEPLOYED.learner, poll: 150, width: 32, speed: 20 },
};
