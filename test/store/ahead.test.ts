/** Runs that are rounds ahead, in a real D1: rounds begin in order with the versions that they must have, and are trained in order. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunSettings, runIdOf } from '../../core/schema/round.ts';
import { markScored } from '../../workers/store/groups.ts';
import { reviveProposal } from '../../workers/store/revive.ts';
import { rollBack } from '../../workers/store/rollback.ts';
import { admitTasks, failRound, getRound, listRounds, roundBefore } from '../../workers/store/rounds.ts';
import { advanceRun, dueRounds, getRun, orderRounds, stuckRuns } from '../../workers/store/runs.ts';
import { stopRun } from '../../workers/store/stop-run.ts';
import { idOf, manifestOf, noteAndCommit, noteAndCreate, openStore, settings as plain } from './fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

let seeds = 700;
let deliveries = 0;

interface Play {
  readonly run: string;
  readonly settings: RunSettings;
  order(rounds: number): Promise<void>;
  /** Trains a round of the run as the gateway does; false where the database refuses it. */
  train(index: number, version?: number, parent?: number): Promise<boolean>;
  /** By round: its state, and the version that it samples with. */
  rounds(): Promise<string[]>;
}

async function open(ahead: number): Promise<Play> {
  const settings: RunSettings = { ...plain(++seeds), ahead };
  const run = runIdOf(settings);
  const { db } = store;
  await noteAndCreate(db, manifestOf(settings.policy, 0));
  const roundAt = async (index: number) =>
    (await listRounds(db, { run, limit: 50 })).find((row) => row.index === index)!;
  return {
    run,
    settings,
    async order(rounds) {
      const delivery = `ahead-${++deliveries}`;
      await orderRounds(db, { delivery, settings, roles: { solver: {} }, rounds, now: 1 });
      await advanceRun(db, run, 2);
    },
    async train(index, version = index, parent = index - 1) {
      const row = await roundAt(index);
      const group = idOf(index);
      await admitTasks(db, row.id, [{ group, index: 0, task: '1+1', proposal: idOf(9) }], 1, 3);
      await markScored(db, row.id, [{ group, sha256: 'a'.repeat(64), mac: 'b' }], 4);
      const manifest = manifestOf(settings.policy, version, { parent, round: row.id, groups: [group] });
      const due = await dueRounds(db, (await getRun(db, run))!, { round: row.id, version, parent });
      return noteAndCommit(db, manifest, due, 5);
    },
    async rounds() {
      const rows = await listRounds(db, { run, limit: 50 });
      return rows
        .sort((a, b) => a.index - b.index)
        .map(({ index, state, spec }) => `${index} ${state} ${spec.roles.solver!.version}`);
    },
  };
}

test('with k = 2 three rounds begin at version 0, and each commit begins the one that samples with it', async () => {
  const play = await open(2);
  await play.order(5);
  expect(await play.rounds()).toEqual(['1 proposing 0', '2 proposing 0', '3 proposing 0']);
  expect(await play.train(1)).toBe(true);
  expect(await play.train(2)).toBe(true);
  expect(await play.rounds()).toEqual([
    '1 done 0',
    '2 done 0',
    '3 proposing 0',
    '4 proposing 1',
    '5 proposing 2',
  ]);
});

test('a round is not trained before the one that comes before it', async () => {
  const play = await open(1);
  await play.order(3);
  const [first, second] = (await listRounds(store.db, { run: play.run, limit: 9 })).sort(
    (a, b) => a.index - b.index,
  );
  expect(await roundBefore(store.db, second!)).toBe(first!.id);
  expect(await play.train(2, 1, 0)).toBe(false);
  expect(await getRound(store.db, second!.id)).toMatchObject({ state: 'training', version: null });
  expect(await play.train(1)).toBe(true);
  expect(await roundBefore(store.db, second!)).toBeNull();
  expect(await play.train(2)).toBe(true);
});

test('ordered at once or round by round, the rounds sample with the same versions', async () => {
  const [whole, parts] = [await open(1), await open(1)];
  await whole.order(4);
  for (const index of [1, 2, 3, 4]) {
    await parts.order(1);
    if (index > 1) continue;
    await parts.train(1);
  }
  for (const index of [2, 3, 4]) await parts.train(index);
  for (const index of [1, 2, 3, 4]) await whole.train(index);
  expect(await parts.rounds()).toEqual(['1 done 0', '2 done 0', '3 done 1', '4 done 2']);
  expect(await whole.rounds()).toEqual(await parts.rounds());
});

test('rounds that a crash left out are begun by the clock with the versions that they would have had', async () => {
  const play = await open(2);
  const { db } = store;
  await orderRounds(db, {
    delivery: `ahead-${++deliveries}`,
    settings: play.settings,
    roles: { solver: {} },
    rounds: 1,
    now: 1,
  });
  await advanceRun(db, play.run, 2);
  await orderRounds(db, {
    delivery: `ahead-${++deliveries}`,
    settings: play.settings,
    roles: { solver: {} },
    rounds: 4,
    now: 1,
  });
  expect((await stuckRuns(db, 100)).map(({ id }) => id)).toContain(play.run);
  // The commit of round 1 makes up for what the order could not do any more.
  expect(await play.train(1)).toBe(true);
  expect(await play.rounds()).toEqual(['1 done 0', '2 proposing 0', '3 proposing 0', '4 proposing 1']);
  expect((await stuckRuns(db, 100)).map(({ id }) => id)).not.toContain(play.run);
});

test('many callers at once begin each round once', async () => {
  const play = await open(2);
  const { db } = store;
  await orderRounds(db, {
    delivery: `ahead-${++deliveries}`,
    settings: play.settings,
    roles: { solver: {} },
    rounds: 9,
    now: 1,
  });
  await Promise.all(Array.from({ length: 8 }, () => advanceRun(db, play.run, 2)));
  expect(await play.rounds()).toEqual(['1 proposing 0', '2 proposing 0', '3 proposing 0']);
});

test('a stop ends all rounds in flight; the next order goes on at the versions that the rule says', async () => {
  const play = await open(1);
  await play.order(9);
  await play.train(1);
  await play.train(2);
  expect(await stopRun(store.db, play.run, 'by hand', 8)).toBe(true);
  expect(await play.rounds()).toEqual(['1 done 0', '2 done 0', '3 failed 1', '4 failed 2']);
  await play.order(2);
  // Round 5 is trained from version 2, one before which is 1; round 6 from what round 5 makes.
  expect((await play.rounds()).slice(4)).toEqual(['5 proposing 1', '6 proposing 2']);
});

test('a round that fails stops its run; the rounds in flight after it are trained all the same', async () => {
  const play = await open(1);
  await play.order(9);
  const first = (await listRounds(store.db, { run: play.run, limit: 9 })).find(({ index }) => index === 1)!;
  await failRound(store.db, first.id, ['proposing'], 'nothing admitted', 6);
  expect((await getRun(store.db, play.run))?.state).toBe('stopped');
  // While the second has not ended, the first may still be reopened, and then it is trained first.
  expect(await reviveProposal(store.db, first.id, 7)).toBe(true);
  await failRound(store.db, first.id, ['proposing'], 'nothing admitted', 8);
  expect(await play.train(2, 1, 0)).toBe(true);
  expect(await reviveProposal(store.db, first.id, 9)).toBe(false);
  await play.order(1);
  expect(await play.rounds()).toEqual(['1 failed 0', '2 done 0', '3 proposing 0', '4 proposing 1']);
});

test('after a rollback the run goes on from the chain of parents, not from numbers', async () => {
  const play = await open(1);
  await play.order(4);
  for (const index of [1, 2, 3]) await play.train(index);
  expect(await rollBack(store.db, { name: play.settings.policy, version: 1 }, 'bad', 9)).toBe(true);
  // Round 4 samples with version 2, which was withdrawn.
  expect(await play.rounds()).toEqual(['1 done 0', '2 done 0', '3 done 1', '4 failed 2']);
  await play.order(3);
  expect((await play.rounds()).slice(4)).toEqual(['5 proposing 0', '6 proposing 1']);
  expect(await play.train(5, 4, 1)).toBe(true);
  expect((await play.rounds()).slice(4)).toEqual(['5 done 0', '6 proposing 1', '7 proposing 4']);
});
