/** The state machine against a real D1: whatever happens twice or at the same time changes nothing more than once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runIdOf } from '../../core/schema/round.ts';
import { storeUndeliverable } from '../../workers/shared/dead-letter.ts';
import {
  countGroups,
  failGroup,
  groupsOf,
  markScored,
  rolloutRows,
  tasksOfRows,
} from '../../workers/store/groups.ts';
import { getPolicy, nextVersion } from '../../workers/store/policies.ts';
import { reviveGroup } from '../../workers/store/revive.ts';
import { rollBack } from '../../workers/store/rollback.ts';
import { admitTasks, claimRedrive, getRound, listRounds, stalledRounds } from '../../workers/store/rounds.ts';
import { advanceRun, getRun, orderRounds, stuckRuns } from '../../workers/store/runs.ts';
import { stopRun } from '../../workers/store/stop-run.ts';
import { manifestOf, noteAndCommit, openStore, orderRun, settings, tasksOf } from './fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

let seeds = 0;
const freshSeed = () => ++seeds;
const score = (round: string, tasks: readonly { group: string }[], now = 5) =>
  markScored(
    store.db,
    round,
    tasks.map(({ group }) => ({ group, sha256: 'f'.repeat(64) })),
    now,
  );

describe('orders', () => {
  test('a delivery counts once; another one extends the target', async () => {
    const seed = freshSeed();
    const order = { settings: settings(seed), roles: { solver: {} }, rounds: 3, now: 1 };
    expect(await orderRounds(store.db, { ...order, delivery: `x-${seed}` })).toBe(true);
    expect(await orderRounds(store.db, { ...order, delivery: `x-${seed}` })).toBe(false);
    expect((await getRun(store.db, runIdOf(order.settings)))?.target).toBe(3);
    expect(await orderRounds(store.db, { ...order, delivery: `y-${seed}` })).toBe(true);
    expect((await getRun(store.db, runIdOf(order.settings)))?.target).toBe(6);
  });

  test('many callers at once open one round', async () => {
    const round = await orderRun(store.db, freshSeed());
    const opened = await Promise.all(Array.from({ length: 8 }, () => advanceRun(store.db, round.run, 3)));
    expect(new Set(opened.flatMap((specs) => specs.map(({ id }) => id)))).toEqual(new Set([round.id]));
    expect(await listRounds(store.db, { run: round.run, limit: 10 })).toHaveLength(1);
  });
});

describe('stopping a run', () => {
  test('ends its open round, begins no other, and an order opens it again', async () => {
    const seed = freshSeed();
    const round = await orderRun(store.db, seed, 10_000);
    const other = await orderRun(store.db, freshSeed(), 3);
    expect(await stopRun(store.db, round.run, 'by hand', 5)).toBe(true);
    expect(await getRound(store.db, round.id)).toMatchObject({ state: 'failed', reason: 'Stopped: by hand' });
    expect(await getRun(store.db, round.run)).toMatchObject({ state: 'stopped', target: 1 });
    expect(await advanceRun(store.db, round.run, 6)).toEqual([]);
    expect((await stuckRuns(store.db, 100)).map(({ id }) => id)).not.toContain(round.run);
    expect(await getRound(store.db, other.id)).toMatchObject({ state: 'proposing' });
    // Again changes nothing.
    expect(await stopRun(store.db, round.run, 'twice', 7)).toBe(true);
    expect(await getRound(store.db, round.id)).toMatchObject({ reason: 'Stopped: by hand', endedAt: 5 });
    const order = { settings: settings(seed), roles: { solver: {} }, rounds: 2, now: 8 };
    await orderRounds(store.db, { ...order, delivery: `again-${seed}` });
    expect(await getRun(store.db, round.run)).toMatchObject({ state: 'open', target: 3 });
    expect(await advanceRun(store.db, round.run, 9)).toMatchObject([{ index: 2 }]);
  });

  test('of one that is not there is told', async () => {
    expect(await stopRun(store.db, 'f'.repeat(32), 'by hand', 5)).toBe(false);
  });
});

describe('groups', () => {
  test('4096 tasks with hostile text are admitted once', async () => {
    const round = await orderRun(store.db, freshSeed());
    const tasks = tasksOf(4096).map((task) => ({ ...task, task: `${task.task}'"); DROP TABLE groups; --` }));
    await admitTasks(store.db, round.id, tasks, 5000, 4);
    await admitTasks(store.db, round.id, tasks.slice(0, 1), 1, 4);
    const row = await getRound(store.db, round.id);
    expect(row).toMatchObject({ state: 'rollout', expected: 4096, proposed: 5000 });
    expect((await groupsOf(store.db, round.id))[4095]?.task).toBe(tasks[4095]?.task);
  });

  test('the last scored group moves the round on, and doing it twice changes nothing', async () => {
    const round = await orderRun(store.db, freshSeed());
    const tasks = tasksOf(3);
    await admitTasks(store.db, round.id, tasks, 3, 4);
    await score(round.id, tasks.slice(0, 2));
    await score(round.id, tasks.slice(0, 2));
    expect((await getRound(store.db, round.id))?.state).toBe('rollout');
    expect(
      tasksOfRows(
        await rolloutRows(
          store.db,
          round.id,
          tasks.map(({ group }) => group),
        ),
      ),
    ).toEqual([tasks[2]]);
    await Promise.all([score(round.id, tasks, 6), score(round.id, tasks, 7)]);
    const row = await getRound(store.db, round.id);
    expect(row?.state).toBe('training');
    await score(round.id, tasks, 9);
    expect((await getRound(store.db, round.id))?.trainingAt).toBe(row?.trainingAt);
  });

  test('a round of which nothing is left says at which stage, and why', async () => {
    const failure = { kind: 'give-up', code: 'x', message: 'why it was' } as const;
    const [unscored, untrained] = [
      await orderRun(store.db, freshSeed()),
      await orderRun(store.db, freshSeed()),
    ];
    const tasks = tasksOf(2);
    for (const round of [unscored, untrained]) await admitTasks(store.db, round.id, tasks, 2, 4);
    await score(untrained.id, tasks);
    for (const round of [unscored, untrained])
      for (const { group } of tasks)
        await failGroup(store.db, round.id, group, ['rollout', 'scored'], failure, 6);
    expect(await getRound(store.db, unscored.id)).toMatchObject({
      state: 'failed',
      reason: 'None of its 2 groups could be scored: why it was',
    });
    expect(await getRound(store.db, untrained.id)).toMatchObject({
      state: 'failed',
      reason: 'None of its 2 groups could be trained: why it was',
    });
  });

  test('a failed group is missing, not scored: the round goes on without it', async () => {
    const round = await orderRun(store.db, freshSeed());
    const tasks = tasksOf(2);
    await admitTasks(store.db, round.id, tasks, 2, 4);
    const failure = { kind: 'give-up', code: 'x', message: 'why' } as const;
    await failGroup(store.db, round.id, tasks[0]!.group, ['rollout'], failure, 5);
    await score(round.id, tasks);
    expect((await countGroups(store.db, [round.id])).get(round.id)).toEqual({
      rollout: 0,
      scored: 1,
      trained: 0,
      failed: 1,
    });
    expect((await getRound(store.db, round.id))?.state).toBe('training');
  });

  test('a copy of a message that is given up late fails no group that another copy got scored; what the learner gives up does', async () => {
    const round = await orderRun(store.db, freshSeed());
    const tasks = tasksOf(2);
    await admitTasks(store.db, round.id, tasks, 2, 4);
    await score(round.id, tasks);
    const failure = { kind: 'give-up', code: 'queue.exhausted', message: 'why' } as const;
    const [{ group, index }] = tasks as [(typeof tasks)[0]];
    const states = async () => (await groupsOf(store.db, round.id)).map(({ state }) => state);
    for (const queue of ['rollout', 'judge'])
      await storeUndeliverable(store.db, queue, { v: 1, round: round.id, group, index }, 6, failure, 7);
    expect(await states()).toEqual(['scored', 'scored']);
    await storeUndeliverable(store.db, 'scored', { v: 1, round: round.id, group, index }, 6, failure, 8);
    expect(await states()).toEqual(['failed', 'scored']);
  });

  test('a round of failures fails, stops its run, and comes back when one of them is replayed', async () => {
    const round = await orderRun(store.db, freshSeed());
    const tasks = tasksOf(2);
    await admitTasks(store.db, round.id, tasks, 2, 4);
    const failure = { kind: 'retry', code: 'x', message: 'why' } as const;
    for (const { group } of tasks) await failGroup(store.db, round.id, group, ['rollout'], failure, 5);
    expect(await getRound(store.db, round.id)).toMatchObject({ state: 'failed', endedAt: 5 });
    expect((await getRun(store.db, round.run))?.state).toBe('stopped');
    expect(await advanceRun(store.db, round.run, 6)).toEqual([]);
    expect(await reviveGroup(store.db, round.id, tasks[1]!.group, 'rollout', 7)).toBe(true);
    expect(await reviveGroup(store.db, round.id, tasks[1]!.group, 'rollout', 7)).toBe(false);
    expect(await getRound(store.db, round.id)).toMatchObject({ state: 'rollout', reason: null });
    expect((await getRun(store.db, round.run))?.state).toBe('open');
    await score(round.id, tasks);
    expect((await countGroups(store.db, [round.id])).get(round.id)).toMatchObject({ scored: 1, failed: 1 });
  });
});

describe('versions', () => {
  const ready = async (seed: number, rounds = 2) => {
    const round = await orderRun(store.db, seed, rounds);
    const tasks = tasksOf(2);
    await admitTasks(store.db, round.id, tasks, 2, 4);
    await score(round.id, tasks);
    const groups = tasks.map(({ group }) => group);
    return { round, manifest: manifestOf(`p-${seed}`, 1, { round: round.id, groups }) };
  };

  test('one of two commits at once wins, and the next round is there in the same moment', async () => {
    const seed = freshSeed();
    const { round, manifest } = await ready(seed);
    const next = { ...round, id: 'e'.repeat(31) + seed, index: 2 };
    const results = await Promise.all([1, 2, 3].map((now) => noteAndCommit(store.db, manifest, [next], now)));
    expect(results.filter(Boolean)).toHaveLength(1);
    expect((await getPolicy(store.db, `p-${seed}`))?.current).toBe(1);
    expect(await getRound(store.db, round.id)).toMatchObject({ state: 'done', version: 1 });
    expect((await countGroups(store.db, [round.id])).get(round.id)?.trained).toBe(2);
    const rows = await listRounds(store.db, { run: round.run, limit: 9 });
    expect(rows.filter((row) => row.state === 'proposing').map((row) => row.id)).toEqual([next.id]);
  });

  test('a version from another parent changes nothing', async () => {
    const seed = freshSeed();
    const { round, manifest } = await ready(seed);
    expect(await noteAndCommit(store.db, { ...manifest, version: 6, parent: 5 }, [], 8)).toBe(false);
    expect((await getPolicy(store.db, `p-${seed}`))?.current).toBe(0);
    expect((await getRound(store.db, round.id))?.state).toBe('training');
  });

  test('a rollback withdraws what came after, ends rounds that name it, and its number is not used again', async () => {
    const seed = freshSeed();
    const { round, manifest } = await ready(seed);
    await noteAndCommit(store.db, manifest, [], 8);
    const [second] = await advanceRun(store.db, round.run, 9);
    expect(second?.roles.solver?.version).toBe(1);
    expect(await rollBack(store.db, { name: `p-${seed}`, version: 0 }, 'bad', 10)).toBe(true);
    expect((await getPolicy(store.db, `p-${seed}`))?.current).toBe(0);
    expect(await getRound(store.db, second!.id)).toMatchObject({
      state: 'failed',
      reason: 'Rolled back to version 0: bad',
    });
    expect((await getRun(store.db, round.run))?.state).toBe('stopped');
    expect(await nextVersion(store.db, `p-${seed}`)).toBe(2);
    expect(await rollBack(store.db, { name: `p-${seed}`, version: 1 }, 'no', 11)).toBe(false);
  });

  test('a group costs at most five written rows from admission to training', async () => {
    const seed = freshSeed();
    const round = await orderRun(store.db, seed);
    const tasks = tasksOf(64);
    let written = 0;
    const counting = Object.assign(Object.create(store.d1), {
      prepare: (sql: string) => store.d1.prepare(sql),
      batch: async (statements: Parameters<typeof store.d1.batch>[0]) => {
        const results = await store.d1.batch(statements);
        written += results.reduce((sum, { meta }) => sum + meta.rows_written, 0);
        return results;
      },
    });
    const { db } = store;
    Object.assign(db, { $client: counting });
    await admitTasks(db, round.id, tasks, 80, 4);
    for (let i = 0; i < 64; i += 16) await score(round.id, tasks.slice(i, i + 16));
    const groups = tasks.map(({ group }) => group);
    await noteAndCommit(db, manifestOf(`p-${seed}`, 1, { round: round.id, groups }), [], 9);
    Object.assign(db, { $client: store.d1 });
    expect(written).toBeGreaterThan(64);
    expect(written / 64).toBeLessThanOrEqual(5);
  });
});

describe('the clock', () => {
  test('a stalled round is claimed by one caller', async () => {
    const round = await orderRun(store.db, freshSeed());
    const row = (await stalledRounds(store.db, { before: 3, now: 3, limit: 1000 })).find(
      (stalled) => stalled.id === round.id,
    );
    const claims = await Promise.all([1, 2, 3].map((i) => claimRedrive(store.db, row!, 100 + i)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect((await getRound(store.db, round.id))?.redrives).toBe(1);
    expect(
      (await stalledRounds(store.db, { before: 3, now: 3, limit: 1000 })).some(
        (stalled) => stalled.id === round.id,
      ),
    ).toBe(false);
  });

  test('a round that was touched by a clock far ahead is not left alone until then', async () => {
    const round = await orderRun(store.db, freshSeed());
    const [row] = (await stalledRounds(store.db, { before: 3, now: 3, limit: 1000 })).filter(
      (stalled) => stalled.id === round.id,
    );
    await claimRedrive(store.db, row!, 9_000_000);
    const stalledAt = async (now: number) =>
      (await stalledRounds(store.db, { before: 3, now, limit: 1000 })).some(({ id }) => id === round.id);
    expect(await stalledAt(9_000_000)).toBe(false);
    expect(await stalledAt(1_000_000)).toBe(true);
  });

  test('a run whose chain broke between two rounds is found', async () => {
    const seed = freshSeed();
    const run = settings(seed);
    await orderRounds(store.db, {
      delivery: `s-${seed}`,
      settings: run,
      roles: { solver: {} },
      rounds: 1,
      now: 1,
    });
    expect((await stuckRuns(store.db, 1000)).map(({ id }) => id)).toContain(runIdOf(run));
    const open = await orderRun(store.db, freshSeed());
    expect((await stuckRuns(store.db, 1000)).map(({ id }) => id)).not.toContain(open.run);
  });
});
