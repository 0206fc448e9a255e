/** The model against schedules worked by hand, and the limits where they must bind. */
import { expect, test } from 'vitest';
import { fitWork, leastPositive, leastSquares, solveFor } from './elastic/fit.ts';
import type { Load, Platform, Work } from './elastic/parameters.ts';
import { simulate } from './elastic/simulate.ts';
import { Server, Timeline } from './elastic/timeline.ts';
import { flatnessOf } from './flatness/flat.ts';

const work: Work = {
  open: 100,
  propose: { base: 50, task: 10 },
  rollout: { batch: 20, task: 0, sample: 5 },
  judge: { batch: 10, task: 0, sample: 2 },
  learner: { base: 300, sample: 1, change: 0 },
};
/** Nothing takes time but work. */
const bare: Platform = {
  cores: null,
  concurrency: 250,
  queues: 1,
  ramp: false,
  proposers: 1,
  batch: 4,
  judgeWait: 0,
  delivery: 0,
  send: 0,
  d1: { read: 0, write: 0, row: 0, way: 0, reads: 3, writes: 2 },
  r2: { get: 0, put: 0 },
  learner: { poll: 0, pull: 0, fetch: 0, width: 1, publish: 0, speed: 1 },
};
const load: Load = { isolates: 250, tasks: 8, group: 2, rounds: 1, runs: 1, inFlight: 1, maxStaleness: 2 };
const timeOf = (platform: Partial<Platform>, more: Partial<Load> = {}) =>
  simulate(work, { ...bare, ...platform }, { ...load, ...more }).totalMs;

test('events happen by time, and at one time by the order in which they were announced', () => {
  const timeline = new Timeline();
  const seen: string[] = [];
  const note = (text: string) => () => void seen.push(`${text}@${timeline.now}`);
  for (const [ms, text] of [
    [5, 'c'],
    [1, 'a'],
    [5, 'd'],
    [3, 'b'],
  ] as const)
    timeline.after(ms, note(text));
  timeline.after(2, () => timeline.after(0, note('now')));
  timeline.run();
  expect(seen).toEqual(['a@1', 'now@2', 'b@3', 'c@5', 'd@5']);
});

test('a server serves so many at a time, in order', () => {
  const timeline = new Timeline();
  const server = new Server(timeline, 2);
  const ends: number[] = [];
  for (const ms of [10, 4, 4, 1]) server.use(ms, () => ends.push(timeline.now));
  timeline.run();
  // Two at once: 10 and 4 begin at 0, the next 4 at 4, the 1 at 8.
  expect(ends).toEqual([4, 8, 9, 10]);
  expect(server.busyMs).toBe(19);
});

test('a round by hand, where every isolate has its own core', () => {
  // 100 open + 50 + 8·10 propose; two rollout batches of 4 tasks × 2 beside each other: 100 + 20 + 8·5; two judge batches: 100 + 10 + 8·2;
  // the learner: 300 + 16.
  expect(timeOf({})).toBe(230 + 160 + 126 + 316);
});

test('a round by hand, on one core with one consumer a queue', () => {
  // 230; then the rollouts 100 + 60; at 390 the first batch is with the judge, whose session and the second batch's rollouts share the core in
  // turn: all in all 60 more for rollouts, and 100 + 26 + 26 for judging.
  expect(timeOf({ cores: 1, concurrency: 1 })).toBe(230 + 160 + 60 + 152 + 316);
});

test('two runs share a learner: they take turns, and each turn costs a change of policies', () => {
  const shared: Work = { ...work, learner: { base: 300, sample: 1, change: 50 } };
  const { totalMs } = simulate(shared, bare, { ...load, runs: 2 });
  // Both have judged after 516; the first trains 316, the second 50 + 316.
  expect(totalMs).toBe(516 + 316 + 366);
  // A prompt's time counts once a task: 4 tasks a batch of rollouts.
  const prompts: Work = { ...work, rollout: { ...work.rollout, task: 3 } };
  expect(simulate(prompts, bare, load).totalMs).toBe(832 + 12);
});

test('what makes a growing figure reach a measured one is found', () => {
  expect(solveFor(7, (x) => 2 * x + 1, 100)).toBeCloseTo(3, 6);
});

test('proposals in two parts: each half as long, beside each other', () => {
  expect(timeOf({ proposers: 2 })).toBe(timeOf({}) - 40);
});

test('consumers that are added after a whole batch: 1, then 2, then 4', () => {
  const slow: Work = {
    ...work,
    open: 0,
    judge: { batch: 0, task: 0, sample: 0 },
    learner: { base: 0, sample: 0, change: 0 },
  };
  const ramped = simulate(slow, { ...bare, ramp: true, batch: 1 }, { ...load, tasks: 7, group: 2 });
  // Propose 50 + 70; batches of one task, 20 + 10 each: seven of them in three waves.
  expect(ramped.totalMs).toBe(120 + 3 * 30);
  expect(ramped.mostAtOnce).toBe(4);
});

test('limits bind where they must: isolates, consumers, messages a batch, fetching', () => {
  const rollouts = (platform: Partial<Platform>, more: Partial<Load>) =>
    simulate(work, { ...bare, batch: 1, ...platform }, { ...load, tasks: 64, ...more }).mostAtOnce;
  expect(rollouts({}, { isolates: 10 })).toBe(10);
  expect(rollouts({ concurrency: 20 }, {})).toBe(20);
  expect(rollouts({ concurrency: 20, queues: 2 }, {})).toBe(40);
  expect(rollouts({ batch: 16 }, {})).toBe(4);
  // Nine objects (eight groups and the proposals) at 100 ms, one after the other or four at a time.
  expect(timeOf({ learner: { ...bare.learner, fetch: 100 } })).toBe(timeOf({}) + 900);
  expect(timeOf({ learner: { ...bare.learner, fetch: 100, width: 4 } })).toBe(timeOf({}) + 300);
});

test('one database for all: its queries follow one another', () => {
  // Two rollout and two judge batches: the reads of the two beside each other take 3 · 2 · 7, their writes 2 · 2 · 5; the proposer writes once.
  const d1 = { ...bare.d1, read: 7, write: 5 };
  expect(timeOf({ d1 })).toBeGreaterThanOrEqual(timeOf({}) + 5 + 2 * 3 * 7);
  expect(simulate(work, { ...bare, d1 }, load).idle.d1).toBeLessThan(1);
});

test('staleness: on policy with one round in flight; with two the second is one behind; beyond the limit it is dropped', () => {
  const run = (inFlight: number, maxStaleness: number) =>
    simulate(work, bare, { ...load, rounds: 6, inFlight, maxStaleness });
  expect(run(1, 0).staleness).toEqual({ mean: 0, most: 0 });
  expect(run(2, 2).staleness.most).toBe(1);
  expect(run(2, 2).dropped).toBe(0);
  expect(run(3, 1).dropped).toBeGreaterThan(0);
  expect(run(2, 2).totalMs).toBeLessThan(run(1, 2).totalMs);
});

test('least squares finds what made the figures', () => {
  const rows = [
    [1, 2, 3],
    [1, 5, 1],
    [1, 7, 9],
    [1, 1, 4],
  ];
  const found = leastSquares(
    rows,
    rows.map(([, a, b]) => 4 + 2 * a! - 3 * b!),
  );
  for (const [i, value] of [4, 2, -3].entries()) expect(found[i]).toBeCloseTo(value, 9);
});

test('where the best coefficients would be negative, the best of the others are taken', () => {
  // y = 10 + 0·a, with noise that would make a's coefficient negative: the mean alone is left.
  expect(
    leastPositive(
      [
        [1, 1],
        [1, 2],
        [1, 3],
      ],
      [11, 10, 9],
    ),
  ).toEqual([10, 0]);
});

test('the fit returns the work that made the rounds', () => {
  const rounds = [
    [8, 4, 1],
    [24, 8, 2],
    [64, 4, 4],
    [48, 2, 3],
  ].map(([tasks, group, batches]) => {
    const samples = tasks! * group!;
    const rollout = { batches: batches!, cpuMs: 100 + 20 * batches! + 5 * samples };
    const judge = { batches: batches!, cpuMs: 100 + 10 * batches! + 2 * samples };
    const [proposeMs, learnMs] = [150 + 10 * tasks!, 300 + 3 * tasks! + samples];
    const solveMs = rollout.cpuMs + judge.cpuMs + 7 * 2 * batches!;
    return {
      run: 'r',
      tasks: tasks!,
      samples,
      proposeMs,
      solveMs,
      learnMs,
      roundMs: 0,
      rollout,
      judge,
      bytes: 0,
      tokens: 0,
    };
  });
  const fitted = fitWork(rounds, [90, 100, 110]);
  const flat = (of: object): number[] =>
    Object.values(of).flatMap((v) => (typeof v === 'number' ? [v] : flat(v)));
  for (const [i, value] of flat(fitted.work).entries()) expect(value).toBeCloseTo(flat(work)[i]!, 6);
  expect([fitted.wait, fitted.fetch].map((v) => Math.round(v * 1e6) / 1e6)).toEqual([7, 3]);
});

test('flat is decided by medians of the ends after the warm-up; too few rounds say nothing', () => {
  const rounds = (late: number) => [
    ...Array(20).fill(1),
    ...Array(20).fill(100),
    500,
    ...Array(20).fill(late),
  ];
  expect(flatnessOf(rounds(110))).toMatchObject({ early: 100, late: 110, growth: 1.1, flat: true });
  expect(flatnessOf(rounds(111))?.flat).toBe(false);
  expect(flatnessOf(Array(59).fill(1))).toBeNull();
});
