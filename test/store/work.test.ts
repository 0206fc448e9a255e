/** Leases of nodes over a real D1: who gets how much, who gets nothing, and in how many calls the rows are read that are asked for all the time. */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SamplingRequest } from '../../core/schema/work.ts';
import { oneOf, packGrammar } from '../../core/text/token-grammar.ts';
import { openDatabase, writeAll } from '../../workers/store/database.ts';
import {
  getHolder,
  insertNode,
  leaseToNode,
  listNodes,
  nodesNow,
  revokeNode,
} from '../../workers/store/nodes.ts';
import { readRoundState } from '../../workers/store/round-state.ts';
import { admitTasks } from '../../workers/store/rounds.ts';
import { readOpening } from '../../workers/store/stage-opening.ts';
import {
  engineText,
  leaseWork,
  noteAnswers,
  putUp,
  releaseOf,
  takeBack,
  workOf,
} from '../../workers/store/work.ts';
import { idOf, openStore, orderRun, tasksOf } from './fixture.ts';

let store: Awaited<ReturnType<typeof openStore>>;
let round: string;
const NOW = 1_000_000;

const file = { file: 'config.json' as const, sha256: 'c'.repeat(64), bytes: 2, version: 0 };
const request: SamplingRequest = {
  policy: { name: 'p-7', version: 0 },
  config: file,
  weights: { ...file, file: 'model.safetensors', sha256: 'a'.repeat(64) },
  vocabSize: 10,
  prompts: [{ ids: [1], sampleIds: [idOf(1)] }],
  settings: { maxNew: 4, temperature: 1, stop: [0] },
};

const node = (n: number, exactness: 'exact' | 'close' = 'exact') => ({
  id: idOf(n),
  name: `node-${n}`,
  exactness,
  tokenSha256: String(n).padStart(64, '0'),
  publicKey: '0'.repeat(64),
  createdAt: 1,
});
const asking = (n: number, threads: number, exactness: 'exact' | 'close' = 'exact') => ({
  id: idOf(n),
  tokenSha256: node(n).tokenSha256,
  exactness,
  kind: 'process' as const,
  threads,
});
const order = (lease: string, limit = 8) => ({
  lease,
  engines: [engineText(undefined, undefined)],
  serves: undefined,
  limit,
  until: NOW + 30_000,
});
let leases = 0;
const lease = async (...who: Parameters<typeof asking>) =>
  leaseToNode(store.db, asking(...who), order(idOf(5000 + leases++)), NOW);

beforeAll(async () => {
  store = await openStore();
  const spec = await orderRun(store.db, 7);
  round = spec.id;
  await admitTasks(store.db, round, tasksOf(16), 16, 4);
  for (const n of [1, 2]) await insertNode(store.db, node(n));
  await insertNode(store.db, node(3, 'close'));
  const work = tasksOf(16).map(({ group, index }) => ({ id: idOf(900 + index), group, index, request }));
  await putUp(store.db, round, 'rollout', work, NOW);
});
afterAll(() => store.close());

test('a node gets its threads’ share of half of what is open, at least one and at most what it asks for', async () => {
  // Alone: 16 open, a half of them is what it asks for.
  expect((await lease(1, 1)).leased).toHaveLength(8);
  // Eight are left for the four threads of two nodes: three quarters of four.
  expect((await lease(2, 3)).leased).toHaveLength(3);
  // Five are left: an eighth of them is less than one.
  expect((await lease(1, 1)).leased).toHaveLength(1);
  const { node: row, held } = await getHolder(store.db, idOf(2));
  expect(row).toMatchObject({ threads: 3, kind: 'process', seenAt: NOW });
  expect(held.map(({ id }) => id)).toEqual([8, 9, 10].map((n) => idOf(900 + n)));
});

test('whoever has another token, or one of another kind, or one that was revoked, gets the row and no lease', async () => {
  const forged = await leaseToNode(
    store.db,
    { ...asking(2, 1), tokenSha256: 'f'.repeat(64) },
    order(idOf(6000)),
    NOW + 10_000,
  );
  expect([forged.row?.name, forged.leased]).toEqual(['node-2', []]);
  expect(forged.row).toEqual((await getHolder(store.db, idOf(2))).node);
  expect((await lease(1, 1, 'close')).leased).toEqual([]);
  expect((await lease(3, 1)).leased).toEqual([]);
  expect((await lease(3, 1, 'close')).leased).toHaveLength(1);
  await writeAll(store.db, [releaseOf(idOf(3))]);
  await revokeNode(store.db, idOf(2), NOW);
  const revoked = await lease(2, 1);
  expect(revoked.row?.revokedAt).toBe(NOW);
  expect(revoked.leased).toEqual([]);
});

test('whether tasks of a round are being proposed is told to who asks', async () => {
  const soon = async () =>
    (await leaseToNode(store.db, asking(1, 1), { ...order(idOf(7200)), engines: [] }, NOW)).soon;
  expect(await soon()).toBe(false);
  const { id } = await orderRun(store.db, 6);
  expect(await soon()).toBe(true);
  await admitTasks(store.db, id, tasksOf(2), 2, 4);
  expect(await soon()).toBe(false);
});

test('a share that is no whole number is rounded down', async () => {
  // Seven are open, with those of the revoked node, and one thread of another node lives: three eighths of seven are 2.6.
  const { leased } = await leaseToNode(store.db, asking(1, 3), order(idOf(7000), 4), NOW);
  expect(leased).toHaveLength(2);
});

test('a node whose requests take a moment gets so many as it says at least, though others are left without', async () => {
  // Five are open, and one thread of another node lives: a fourth of five is one.
  const of = async (least: number, limit: number) => {
    const { leased } = await leaseToNode(store.db, asking(1, 1), { ...order(idOf(7100), limit), least }, NOW);
    await writeAll(store.db, [releaseOf(idOf(1), idOf(7100))]);
    return leased.length;
  };
  expect(await of(1, 8)).toBe(1);
  expect(await of(4, 8)).toBe(4);
  expect(await of(8, 8)).toBe(5);
  expect(await of(8, 3)).toBe(3);
});

test('results of one lease are noted together: each if it is held, once, and its group goes on when nothing of it is left', async () => {
  const spec = await orderRun(store.db, 8);
  const groups = tasksOf(3);
  await admitTasks(store.db, spec.id, groups, 3, 4);
  await insertNode(store.db, node(4));
  // Two requests of the first group, one of each other; the fourth is never leased.
  const asked = [0, 0, 1, 2].map((g, i) => ({
    id: idOf(800 + i),
    group: groups[g]!.group,
    index: g,
    request,
  }));
  await putUp(store.db, spec.id, 'judge', asked, 0);
  const mine = idOf(8000);
  const { leased } = await leaseToNode(store.db, asking(4, 99), order(mine, 3), NOW);
  expect(leased.map(({ id }) => id)).toEqual([800, 801, 802].map(idOf));
  const note = (numbers: readonly number[], at = NOW, lease = mine, by: string | null = idOf(4)) =>
    noteAnswers(
      store.db,
      { round: spec.id, node: by, lease },
      numbers.map((n) => ({
        id: idOf(n),
        sha256: 'b'.repeat(64),
        seal: 'c'.repeat(128),
        samples: 2,
        tokens: 5,
      })),
      at,
    );
  const nothing = { taken: new Set(), whole: [] };
  // Of another lease, of another node, of a lease that has run out, and what was not leased at all.
  expect(await note([800], NOW, idOf(8001))).toEqual(nothing);
  expect(await note([800], NOW, mine, idOf(1))).toEqual(nothing);
  expect(await note([800], NOW + 30_001)).toEqual(nothing);
  expect(await note([803])).toEqual(nothing);
  expect((await getHolder(store.db, idOf(4))).node).toMatchObject({ requests: 0, samples: 0, tokens: 0 });

  const whole = { round: spec.id, stage: 'judge', group: groups[1]!.group, index: 1 };
  expect(await note([800, 802, 803])).toEqual({ taken: new Set([800, 802].map(idOf)), whole: [whole] });
  expect((await getHolder(store.db, idOf(4))).node).toMatchObject({ requests: 2, samples: 4, tokens: 10 });
  expect(await note([800, 802])).toEqual(nothing);
  expect((await note([801])).whole).toEqual([{ ...whole, group: groups[0]!.group, index: 0 }]);
  expect((await getHolder(store.db, idOf(4))).node).toMatchObject({ requests: 3, samples: 6, tokens: 15 });
});

test('what a stage begins with is read in one call, and a round’s state in two', async () => {
  let calls = 0;
  const spied = Object.assign(Object.create(store.d1), {
    prepare: (query: string) => store.d1.prepare(query),
    batch: (statements: Parameters<typeof store.d1.batch>[0]) => {
      calls++;
      return store.d1.batch(statements);
    },
  });
  const db = openDatabase(spied);
  const groups = tasksOf(3).map(({ group }) => group);
  const first = await readOpening(db, 'rollout', round, groups, undefined, NOW);
  expect(calls).toBe(1);
  expect(first.versions).toBeUndefined();
  const again = await readOpening(db, 'rollout', round, groups, first.row!.spec, NOW);
  expect(calls).toBe(2);
  expect(again).toEqual({ ...first, versions: [expect.objectContaining({ policy: 'p-7', version: 0 })] });
  expect(again.tasks).toEqual(tasksOf(3));
  expect(again.nodes).toEqual({ any: true, live: true, exact: true, gold: false, exactGold: false });
  expect(again.work.map(({ group, state }) => [group, state])).toEqual(
    groups.map((group) => [group, 'leased']),
  );

  const state = (await readRoundState(db, round))!;
  expect(calls).toBe(4);
  expect(state).toMatchObject({ counts: { rollout: 16 }, failed: [], before: null });
  expect(state.row).toEqual(first.row);
  expect(await readRoundState(db, idOf(404))).toBeUndefined();
});

test('what waits although a node asks for work is told beside that node', async () => {
  const spec = await orderRun(store.db, 9);
  const tasks = tasksOf(1);
  await admitTasks(store.db, spec.id, tasks, 1, 4);
  await insertNode(store.db, node(5));
  // Later than all that the tests before have put up and leased.
  const put = NOW + 1_000_000;
  const asked = put + 20_000;
  await writeAll(store.db, [sql`UPDATE work SET state = 'closed'`]);
  const grammar = oneOf([[1, 2]], 10);
  const waits = {
    ...request,
    policy: { ...request.policy, engine: 'kernels' as const, weights: 'int8' as const },
    settings: { ...request.settings, grammar: packGrammar(grammar) },
  };
  await putUp(
    store.db,
    spec.id,
    'rollout',
    [{ id: idOf(700), group: tasks[0]!.group, index: 0, request: waits }],
    put,
  );
  const ask = async (engines: readonly string[]) => {
    const more = { ...order(idOf(9000 + leases++)), engines, until: asked + 30_000 };
    return (await leaseToNode(store.db, asking(5, 1), more, asked)).leased.length;
  };
  const told = async (at: number) => {
    const of = new Map((await listNodes(store.db, at)).map((one) => [one.name, one]));
    const { state, leaves } = of.get('node-5')!;
    expect(of.get('node-1')).toMatchObject({ state: 'away', leaves: [] });
    return [state, leaves];
  };
  expect(await ask([engineText('kernels', 'int8')])).toBe(0);
  // What was put up a moment ago may yet be taken.
  expect(await told(put + 1_000)).toEqual(['idle', []]);
  expect(await told(asked)).toEqual(['idle', ['kernels int8 grammar']]);
  expect(await ask([engineText('kernels', 'int8'), engineText('kernels', 'int8', true)])).toBe(1);
  expect(await told(asked)).toEqual(['working', []]);
});

test('a prompt that holds gold is leased to no node but one whose token is for gold, and to isolates', async () => {
  const spec = await orderRun(store.db, 10);
  const [plain, shown] = tasksOf(2);
  await admitTasks(store.db, spec.id, [plain!, shown!], 2, 4);
  await insertNode(store.db, node(6));
  await insertNode(store.db, { ...node(7), seesGold: true });
  await insertNode(store.db, { ...node(8, 'close'), seesGold: true });
  await writeAll(store.db, [sql`UPDATE work SET state = 'closed'`]);
  const put = NOW + 2_000_000;
  const requests = [
    { id: idOf(600), group: plain!.group, index: 0, request },
    { id: idOf(601), group: shown!.group, index: 1, request, gold: true },
  ];
  await putUp(store.db, spec.id, 'rollout', requests, put);
  const at = put + 20_000;
  // The clock does not send for what was put up a moment ago: the isolate that put it up samples it.
  expect(await takeBack(store.db, put + 1_000, { live: true, exactGold: false })).toEqual([]);
  /** What a node gets that takes anything, also by what only the mesh's own texts say. */
  const gets = async (...who: Parameters<typeof asking>) => {
    const plain = engineText(undefined, undefined);
    const anything = {
      ...order(idOf(9500 + leases++)),
      engines: [plain, `${plain} gold`],
      until: at + 30_000,
    };
    const { leased } = await leaseToNode(store.db, asking(...who), { ...anything, least: 8 }, at);
    await writeAll(store.db, [releaseOf(idOf(who[0]))]);
    return leased.map(({ id }) => id);
  };
  const leavesOf = async (n: number) =>
    (await listNodes(store.db, at)).find(({ id }) => id === idOf(n))!.leaves;
  const group = { round: spec.id, stage: 'rollout', group: shown!.group, index: 1 };
  expect(await gets(6, 1)).toEqual([idOf(600)]);
  // A close node whose token is for gold, alone with an ordinary one: isolates are to sample what it may not score.
  expect(await nodesNow(store.db, at)).toMatchObject({ exact: true, gold: false, exactGold: false });
  expect(await gets(8, 1, 'close')).toEqual([idOf(600), idOf(601)]);
  expect(await nodesNow(store.db, at)).toMatchObject({ exact: true, gold: true, exactGold: false });
  // The clock sends for what waits for nobody, and what an ordinary node may not have is not what it leaves.
  expect(await takeBack(store.db, at, await nodesNow(store.db, at))).toEqual([group]);
  expect(await leavesOf(6)).toEqual([engineText(undefined, undefined)]);
  expect(await gets(7, 1)).toEqual([idOf(600), idOf(601)]);
  expect(await nodesNow(store.db, at)).toMatchObject({ gold: true, exactGold: true });
  expect(await takeBack(store.db, at, await nodesNow(store.db, at))).toEqual([]);
  expect(await leavesOf(7)).toEqual([
    engineText(undefined, undefined),
    `${engineText(undefined, undefined)} gold`,
  ]);
  expect((await listNodes(store.db, at)).flatMap(({ id, seesGold }) => (seesGold ? [id] : []))).toEqual(
    [7, 8].map(idOf),
  );
  const isolate = { node: null, lease: idOf(9900), engines: null, limit: 8, until: at + 1 };
  const onlyGold = await leaseWork(store.db, { ...isolate, gold: true }, at);
  expect(onlyGold.map(({ id }) => id)).toEqual([idOf(601)]);
  expect((await leaseWork(store.db, isolate, at)).map(({ id }) => id)).toEqual([idOf(600)]);
});

test('a request that is put up again is marked as it is then, and what a node may not have is no part of its share', async () => {
  const spec = await orderRun(store.db, 11);
  const tasks = tasksOf(8);
  await admitTasks(store.db, spec.id, tasks, 8, 4);
  await insertNode(store.db, node(11));
  await writeAll(store.db, [sql`UPDATE work SET state = 'closed'`]);
  const put = NOW + 3_000_000;
  const rows = (gold: boolean) =>
    tasks.map(({ group, index }) => ({
      id: idOf(12_000 + index),
      group,
      index,
      request,
      gold: gold && index < 6,
    }));
  await putUp(store.db, spec.id, 'rollout', rows(false), put);
  await putUp(store.db, spec.id, 'rollout', rows(true), put);
  const groups = tasks.map(({ group }) => group);
  const engines = (await workOf(store.db, spec.id, 'rollout', groups)).map(({ engine }) => engine);
  expect(engines.filter((engine) => engine.endsWith(' gold'))).toHaveLength(6);
  // Half of the two that it may have, and not half of eight.
  const lease = { ...order(idOf(9900)), limit: 8, until: put + 30_000 };
  expect((await leaseToNode(store.db, asking(11, 1), lease, put)).leased).toHaveLength(1);
});

test('a node whose server takes adapters leases its version and what has an adapter over it, and no other weights', async () => {
  const adapter = (version: number) => ({ ...file, file: 'main.adapter.safetensors' as const, version });
  const later = { ...request.weights, version: 2 };
  const kinds: Record<string, Partial<SamplingRequest>> = {
    base: {},
    adapted: { policy: { name: 'p-7', version: 3 }, adapter: adapter(3) },
    'another set': {
      policy: { name: 'p-7', version: 3, set: 'judge' },
      adapter: { ...adapter(3), file: 'judge.adapter.safetensors' },
    },
    'other weights': { policy: { name: 'p-7', version: 2 }, weights: later },
    'adapted, over other weights': {
      policy: { name: 'p-7', version: 4 },
      weights: later,
      adapter: adapter(4),
    },
    'weights of a set of its own': {
      policy: { name: 'p-7', version: 3, set: 'judge' },
      weights: { ...request.weights, file: 'judge.safetensors' },
    },
    'another policy': { policy: { name: 'q-7', version: 3 }, adapter: adapter(3) },
  };
  const spec = await orderRun(store.db, 8);
  await admitTasks(store.db, spec.id, tasksOf(1), 1, 4);
  const work = Object.values(kinds).map((kind, i) => ({
    id: idOf(7000 + i),
    group: idOf(1),
    index: i,
    request: { ...request, ...kind },
  }));
  await putUp(store.db, spec.id, 'rollout', work, NOW);
  const served = async (serves: { name: string; version: number; adapters?: true }) => {
    const of = { round: spec.id, stage: 'rollout' as const, groups: [idOf(1)] };
    const leased = await leaseWork(
      store.db,
      { ...order(idOf(7100), 99), node: idOf(3), close: true, serves, of },
      NOW,
    );
    await writeAll(store.db, [releaseOf(idOf(3))]);
    return leased.map(({ id }) => Object.keys(kinds)[work.findIndex((one) => one.id === id)]);
  };
  expect(await served({ name: 'p-7', version: 0 })).toEqual(['base']);
  expect(await served({ name: 'p-7', version: 0, adapters: true })).toEqual([
    'base',
    'adapted',
    'another set',
  ]);
  expect(await served({ name: 'p-7', version: 2, adapters: true })).toEqual([
    'other weights',
    'adapted, over other weights',
  ]);
});
