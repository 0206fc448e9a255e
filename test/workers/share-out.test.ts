/**
 * The stages over a real D1 and R2 with a recipe and a policy of the test's own: what is left of a damaged result, of a CPU budget that is
 * smaller than a request, of a batch that fails, and of what a node forged before it was shut out.
 */
import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { completionsSha256 } from '../../core/audit/work-seal.ts';
import { RollmeshError } from '../../core/errors.ts';
import type { Policy, PolicyRef } from '../../core/policy/policy.ts';
import { deriveId, sha256Hex } from '../../core/random.ts';
import { registry } from '../../core/recipe/registry.ts';
import type { WorkerStage } from '../../core/round/stages.ts';
import { fileEntries, type VersionFiles } from '../../core/schema/policy.ts';
import {
  type JudgeMessage,
  keys,
  type RolloutMessage,
  type RoundSpec,
  rolloutMessage,
  runIdOf,
} from '../../core/schema/round.ts';
import type { SamplingRequest } from '../../core/schema/work.ts';
import { parseConfig } from '../../model/config.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { type JudgeMesh, judgeGroups } from '../../workers/judge/judge-groups.ts';
import { type ProposerMesh, proposeRound } from '../../workers/proposer/propose-round.ts';
import { type RolloutMesh, rollOutGroups } from '../../workers/rollout/roll-out-groups.ts';
import { consume } from '../../workers/shared/consume.ts';
import { CpuBudget } from '../../workers/shared/cpu-budget.ts';
import { expectRoom } from '../../workers/shared/isolate-size.ts';
import { openDatabase, writeAll } from '../../workers/store/database.ts';
import { answeredCallsOf, callKey, heldEpisodes } from '../../workers/store/episodes.ts';
import { getGroup, groupsOf } from '../../workers/store/groups.ts';
import { insertNode } from '../../workers/store/nodes.ts';
import { putJson } from '../../workers/store/objects.ts';
import { admitTasks, failRound, getRound } from '../../workers/store/rounds.ts';
import { advanceRun, orderRounds } from '../../workers/store/runs.ts';
import { shutOut } from '../../workers/store/shut-out.ts';
import {
  forgetWork,
  leaseWork,
  noteAnswers,
  PROPOSALS,
  putUp,
  resultKey,
  workOf,
} from '../../workers/store/work.ts';
import { idOf, manifestOf, noteAndCreate, openStore, settings, tasksOf } from '../store/fixture.ts';

// The engines are modules of WebAssembly that the Workers' platform instantiates; policies are the test's own.
vi.mock('../../infer/workerd-engines.ts', () => ({ workerdEngines: {} }));

let store: Awaited<ReturnType<typeof openStore>>;
/** What a stage reads of a policy before it opens it. */
let texts: VersionFiles;
let seeds = 700;
const NOW = 1_000_000;
const [CHEAT, HONEST, OWN] = [idOf(1), idOf(2), idOf(3)];
/** Twenty completions a group: two requests, of sixteen and of four. */
const ROWS = 20;

beforeAll(async () => {
  store = await openStore();
  const { 'model.safetensors': _, ...others } = await readPolicyFolder('models/arithmetic-base');
  texts = others;
  for (const [id, name] of [
    [CHEAT, 'cheat'],
    [HONEST, 'honest'],
    [OWN, 'own'],
  ] as const) {
    const keys = { tokenSha256: id.padEnd(64, '0'), publicKey: '0'.repeat(64), seesGold: id === OWN };
    await insertNode(store.db, { id, name, exactness: 'exact', ...keys, createdAt: 1 });
  }
});
afterAll(() => store.close());
beforeEach(async () => {
  for (const level of ['info', 'warn', 'error'] as const) vi.spyOn(console, level).mockReturnValue();
  await seen(0);
});

/** When the nodes were heard of last; the one whose token is for gold, too, only where that is said. */
const seen = (at: number, own = 0) =>
  writeAll(store.db, [sql`UPDATE nodes SET seen_at = CASE WHEN sees_gold THEN ${own} ELSE ${at} END`]);

/** A round of a new policy, whose version 0 is in the object store, without its weights. */
async function openRound(): Promise<RoundSpec> {
  const run = settings(++seeds);
  for (const [file, bytes] of fileEntries(texts))
    await store.bucket.put(keys.version(run.policy, 0, file), bytes);
  const entries = fileEntries(texts).map(([file, bytes]) => [
    file,
    { sha256: sha256Hex(bytes), bytes: bytes.length },
  ]);
  const manifest = manifestOf(run.policy, 0, {
    files: { ...Object.fromEntries(entries), 'model.safetensors': { sha256: 'a'.repeat(64), bytes: 8 } },
  });
  await putJson(store.bucket, keys.version(run.policy, 0, 'manifest.json'), manifest);
  await noteAndCreate(store.db, manifest);
  const roles = { proposer: {}, solver: {}, judge: {} };
  await orderRounds(store.db, { delivery: `d-${seeds}`, settings: run, roles, rounds: 1, now: 1 });
  return (await advanceRun(store.db, runIdOf(run), 2))[0]!;
}

async function rollingOut(groups: number): Promise<{ round: RoundSpec; messages: RolloutMessage[] }> {
  const round = await openRound();
  await admitTasks(store.db, round.id, tasksOf(groups), groups, 4);
  return {
    round,
    messages: tasksOf(groups).map(({ group, index }) => ({ v: 1, round: round.id, group, index })),
  };
}

const sampleIds = (round: string, group: string) =>
  Array.from({ length: ROWS }, (_, i) => deriveId('sample', round, group, i));
const made = { ids: [1, 0], logprobs: [-0.5, -0.25], stopped: true };
/** Tokens a completion; with a prompt of one, a row is reckoned with ten milliseconds. */
const change = { maxNew: 9 };
const ROW_MS = 10;
/** A task at which the recipe fails once it has sampled. */
const POISON = '2+1';
/** A task before which the judge, which sees gold, is asked for two hints. */
const HINTED = '3+1';
/** A task of which three sequences of five tokens are measured before anything is sampled. */
const MEASURED = '0+1';
let measures = false;
/** The temperature of the hints. */
let hintsAt = 1;
const hintIds = (group: string) => [0, 1].map((i) => deriveId('hint', group, i));

const trio = shipped.find('trio');
const recipes = registry([
  {
    ...trio,
    roles: { ...trio.roles, judge: { ...trio.roles.judge!, seesGold: true } },
    async propose(context) {
      const { id: round } = context.round;
      await context.generate('proposer', [{ ids: [1], sampleIds: [deriveId('proposal', round)] }], change);
      return { round, samples: [], tasks: tasksOf(2) };
    },
    rollOut: async (context, tasks) => {
      const { id: round } = context.round;
      const ask = ({ group }: { group: string }) => ({ ids: [1], sampleIds: sampleIds(round, group) });
      const read = measures ? tasks.filter(({ task }) => task === MEASURED) : [];
      await context.measure(
        'solver',
        read.flatMap(({ group }) => [2, 3, 4].map((id) => ({ group, prompt: [1], ids: [id, 5, 6, 0] }))),
      );
      const hinted = tasks.filter(({ task }) => task === HINTED);
      const hints = hinted.map(({ group }) => ({ ids: [1], sampleIds: hintIds(group) }));
      await context.generate('judge', hints, { ...change, temperature: hintsAt });
      await context.generate('solver', tasks.map(ask), change);
      if (tasks.some(({ task }) => task === POISON))
        throw new RollmeshError('give-up', 'x.poison', 'It is poison.');
      return tasks.map((task) => ({ round, ...task, samples: [] }));
    },
    judge: async (context, rolled) => {
      const ask = ({ group }: { group: string }) => ({ ids: [1], sampleIds: [deriveId('judgment', group)] });
      await context.generate('judge', rolled.map(ask), change);
      return rolled.map((group) => ({ ...group, judgments: [], answersExact: [], solutionsExact: [] }));
    },
  },
]);

/** A configuration whose weights no isolate has room for: 320 MB in its embeddings alone. */
const LARGE = {
  ...parseConfig(JSON.parse(readFileSync('models/arithmetic-base/config.json', 'utf8'))),
  vocabSize: 800_000,
};

interface Options {
  /** Default: enough for everything. */
  readonly budgetMs?: number;
  /** What happens in the mesh while this invocation samples for the first time. */
  readonly meanwhile?: () => Promise<unknown>;
  /** Whether its isolate has no room for the policy. */
  readonly noRoom?: boolean;
}

/** An invocation of a stage: what it sampled, and what it sent to which queue. */
function invocation({ budgetMs = 1e6, meanwhile, noRoom = false }: Options = {}) {
  const sampled: string[] = [];
  const measured: (readonly number[])[] = [];
  const sent = {
    judge: [] as JudgeMessage[],
    rollout: [] as RolloutMessage[],
    propose: [] as unknown[],
    scored: [] as unknown[],
  };
  const queue = (name: keyof typeof sent) => ({
    sendBatch: async (batch: Iterable<{ body: never }>) => {
      for (const { body } of batch) sent[name].push(body);
    },
  });
  let waiting = meanwhile;
  const policy = (ref: PolicyRef): Policy => ({
    ref,
    parameters: 0,
    generate: async (prompts) => {
      const first = waiting;
      waiting = undefined;
      await first?.();
      return prompts.map(({ sampleIds: ids }) => {
        sampled.push(...ids);
        return ids.map(() => made);
      });
    },
    score: async (sequences) => {
      measured.push(...sequences);
      return sequences.map((ids) => ({
        logprobs: ids.slice(1).map(() => -1),
        entropy: ids.slice(1).map(() => 2),
      }));
    },
    dispose: () => Promise.resolve(),
  });
  const mesh = {
    recipes,
    db: store.db,
    bucket: store.bucket,
    session: {
      use: async (ref: PolicyRef, work: (of: Policy) => unknown) => {
        if (noRoom) expectRoom(LARGE, ref, 0);
        return work(policy(ref));
      },
    },
    now: () => NOW,
    cpuBudgetMs: budgetMs,
    cpuBudget: new CpuBudget(budgetMs),
    kept: new Map(),
    besideNodes: true,
    judgments: queue('judge'),
    rollouts: queue('rollout'),
    proposals: queue('propose'),
    scored: queue('scored'),
    meshKey: 'k',
  } as unknown as RolloutMesh & JudgeMesh & ProposerMesh;
  return { mesh, sampled, measured, sent };
}

const REQUEST: SamplingRequest = {
  policy: { name: 'p', version: 0 },
  config: { file: 'config.json', sha256: 'c'.repeat(64), bytes: 2, version: 0 },
  weights: { file: 'model.safetensors', sha256: 'a'.repeat(64), bytes: 2, version: 0 },
  vocabSize: 10,
  prompts: [{ ids: [1], sampleIds: [idOf(99)] }],
  settings: { maxNew: 9, temperature: 1, stop: [0] },
};

/** Has a node answer a request of a group, in an attempt of the round. */
async function answers(node: string, round: string, stage: WorkerStage, group: string, attempt = 0) {
  const id = deriveId('answered', round, stage, group);
  await putUp(store.db, round, stage, [{ id, group, index: 0, request: REQUEST }], NOW, attempt);
  const lease = deriveId('lease', id);
  const of = { round, stage, groups: [group] };
  await leaseWork(store.db, { node, lease, engines: null, limit: 1, until: NOW + 1000, of }, NOW);
  const told = { sha256: await completionsSha256([made]), seal: '0'.repeat(128), samples: 1, tokens: 2 };
  await putJson(store.bucket, resultKey({ round, id, lease }), [made]);
  await noteAnswers(store.db, { round, node, lease }, [{ id, ...told }], NOW);
}

const shutOutCheat = () => shutOut(store.db, store.bucket, CHEAT, 'forged', NOW);
const episodeKey = (group: string) => ({ group, sample: 0 });

const rowsOf = async (round: string, stage: WorkerStage, group: string) =>
  (await workOf(store.db, round, stage, [group])).toSorted((a, b) => (a.id < b.id ? -1 : 1));
const stateOf = async (round: string, group: string) => (await getGroup(store.db, round, group))?.state;

test('a result that cannot be read is no answer: its request is open again, and the stage goes on', async () => {
  const { round, messages } = await rollingOut(1);
  const { group } = messages[0]!;
  await answers(CHEAT, round.id, 'rollout', group);
  const [row] = await rowsOf(round.id, 'rollout', group);
  await store.bucket.put(resultKey(row!), JSON.stringify([{ ...made, logprobs: [null, -0.25] }]));
  const { mesh, sent } = invocation();
  await seen(NOW);
  await rollOutGroups({ ...mesh, besideNodes: false }, round.id, messages);
  expect((await rowsOf(round.id, 'rollout', group)).find(({ id }) => id === row!.id)).toMatchObject({
    state: 'open',
    node: null,
    seal: null,
  });
  await rollOutGroups(mesh, round.id, messages);
  expect(sent.judge).toHaveLength(1);
});

test('isolates measure while nodes sample; what their budget leaves is measured later, and nothing twice', async () => {
  measures = true;
  try {
    const { round, messages } = await rollingOut(1);
    const { group } = messages[0]!;
    await seen(NOW);
    const first = invocation({ budgetMs: 11 });
    await rollOutGroups({ ...first.mesh, besideNodes: false }, round.id, messages);
    expect(first.measured.map(([, second]) => second)).toEqual([2, 3]);
    expect(first.sent.rollout).toMatchObject([{ group, begun: true }]);
    expect(await rowsOf(round.id, 'rollout', group)).toEqual([]);
    const second = invocation({ budgetMs: 11 });
    await rollOutGroups({ ...second.mesh, besideNodes: false }, round.id, first.sent.rollout);
    expect(second.measured.map(([, second]) => second)).toEqual([4]);
    expect(second.sampled).toEqual([]);
    expect(await leasesAndAnswers(HONEST, round.id, group)).toBe(2);
    const third = invocation();
    const begun = messages.map((message) => ({ ...message, begun: true as const }));
    await rollOutGroups({ ...third.mesh, besideNodes: false }, round.id, begun);
    expect([third.measured, third.sampled]).toEqual([[], []]);
    const rolled = await store.bucket.get(keys.rollouts(round.id, group, 0));
    const { measurements } = (await rolled!.json()) as { measurements: object };
    const each = { logProbabilities: [-1, -1, -1, -1], entropies: [2, 2, 2, 2] };
    expect(Object.values(measurements)).toEqual([each, each, each]);
  } finally {
    measures = false;
  }
});

/** Has a node lease whatever a group has open, and answer it. @returns how many requests that were */
async function leasesAndAnswers(node: string, round: string, group: string): Promise<number> {
  const lease = deriveId('lease', node, round, group);
  const of = { round, stage: 'rollout', groups: [group] } as const;
  const leased = await leaseWork(
    store.db,
    { node, lease, engines: null, limit: 9, until: NOW + 1000, of },
    NOW,
  );
  for (const { id, samples } of leased) {
    const completions = Array.from({ length: samples }, () => made);
    const told = { sha256: await completionsSha256(completions), seal: '0'.repeat(128), samples, tokens: 2 };
    await putJson(store.bucket, resultKey({ round, id, lease }), completions);
    await noteAnswers(store.db, { round, node, lease }, [{ id, ...told }], NOW);
  }
  return leased.length;
}

test('what an isolate samples alone, since no node is there, no node that comes back samples meanwhile', async () => {
  const { round, messages } = await rollingOut(1);
  const { group } = messages[0]!;
  await seen(NOW);
  await rollOutGroups({ ...invocation().mesh, besideNodes: false }, round.id, messages);
  expect(await rowsOf(round.id, 'rollout', group)).toMatchObject([{ state: 'open' }, { state: 'open' }]);
  await seen(0);
  const answered: number[] = [];
  const meanwhile = async () => answered.push(await leasesAndAnswers(HONEST, round.id, group));
  const { mesh, sampled, sent } = invocation({ meanwhile });
  await rollOutGroups(mesh, round.id, messages);
  expect(answered).toEqual([0]);
  expect(sampled.toSorted()).toEqual(sampleIds(round.id, group).toSorted());
  expect(sent.judge).toHaveLength(1);
});

test('nor does it sample what a node answered after the stage was opened', async () => {
  const { round, messages } = await rollingOut(1);
  const { group } = messages[0]!;
  await seen(NOW);
  await rollOutGroups({ ...invocation().mesh, besideNodes: false }, round.id, messages);
  await seen(0);
  let calls = 0;
  const spied = Object.assign(Object.create(store.d1), {
    prepare: (query: string) => store.d1.prepare(query),
    batch: async (statements: Parameters<typeof store.d1.batch>[0]) => {
      const read = await store.d1.batch(statements);
      // The first call is the opening.
      if (++calls === 1) expect(await leasesAndAnswers(HONEST, round.id, group)).toBe(2);
      return read;
    },
  });
  const { mesh, sampled, sent } = invocation();
  await rollOutGroups({ ...mesh, db: openDatabase(spied) }, round.id, messages);
  expect(sampled).toEqual([]);
  expect(sent.judge).toHaveLength(1);
  expect(await rowsOf(round.id, 'rollout', group)).toMatchObject([{ node: HONEST }, { node: HONEST }]);
});

test.each([
  { budgetMs: 3.5 * ROW_MS, rows: 3, times: 7 },
  { budgetMs: ROW_MS / 2, rows: 1, times: 2 },
])(
  'requests that are larger than the CPU budget are answered $rows rows an invocation',
  async ({ budgetMs, rows, times }) => {
    const { round, messages } = await rollingOut(1);
    const { group } = messages[0]!;
    await seen(NOW);
    const all: string[] = [];
    let due = messages;
    let invocations = 0;
    for (; due.length && invocations < times; invocations++) {
      const { mesh, sampled, sent } = invocation({ budgetMs });
      await rollOutGroups(mesh, round.id, due);
      all.push(...sampled);
      if (invocations === 0) {
        // What is left of the request that it began is open again, and the other one is as it was.
        const left = await rowsOf(round.id, 'rollout', group);
        const of = (state: string) => left.flatMap((row) => (row.state === state ? [row.samples] : []));
        expect(of('done')).toEqual([rows]);
        expect([
          [16 - rows, 4],
          [16, 4 - rows],
        ]).toContainEqual(of('open').toSorted((x, y) => y - x));
      }
      due = sent.rollout;
    }
    expect(new Set(all).size).toBe(all.length);
    expect(all).toHaveLength(Math.min(ROWS, times * rows));
    expect(due).toHaveLength(all.length < ROWS ? 1 : 0);
  },
);

test('one CPU budget for all rounds of a batch', async () => {
  const [first, second] = [await rollingOut(1), await rollingOut(1)];
  const { mesh, sampled, sent } = invocation({ budgetMs: 25 * ROW_MS });
  for (const { round, messages } of [first!, second!]) await rollOutGroups(mesh, round.id, messages);
  expect(sampled).toHaveLength(25);
  expect(sent.judge.map(({ round }) => round)).toEqual([first!.round.id]);
  expect(sent.rollout).toMatchObject([{ ...second!.messages[0], begun: true }]);
});

test.each([100, 30])(
  'a batch with a poison message that has %i rows to spend samples no row twice',
  async (rows) => {
    const { round, messages } = await rollingOut(3);
    const { mesh, sampled, sent } = invocation({ budgetMs: rows * ROW_MS });
    const buried: unknown[] = [];
    const batch = (bodies: readonly unknown[]) =>
      bodies.map((body, i) => ({
        ...{ id: String(i), timestamp: new Date(0), body, attempts: 1 },
        ack: () => undefined,
        retry: () => undefined,
      }));
    const deliver = async (to: RolloutMesh, bodies: readonly unknown[]) =>
      consume(
        {
          stage: 'rollout',
          schema: rolloutMessage,
          work: (of, some) => rollOutGroups(to, of, some),
          storeUndeliverable: async (body) => void buried.push(body),
          account: async () => undefined,
          retrySeconds: 1,
        },
        batch(bodies),
      );
    await deliver(mesh, messages);
    expect(sampled.length).toBe(new Set(sampled).size);
    expect(sampled.length).toBeLessThanOrEqual(rows);
    // What it had no time for is continued by another one, to the same end.
    const next = invocation();
    await deliver(next.mesh, sent.rollout);
    expect([...sampled, ...next.sampled].toSorted()).toEqual(
      messages.flatMap(({ group }) => sampleIds(round.id, group)).toSorted(),
    );
    expect([...sent.judge, ...next.sent.judge].map(({ index }) => index).toSorted()).toEqual([0, 1]);
    expect(buried).toMatchObject([{ index: 2 }]);
  },
);

test('the rows of all rounds that ended are forgotten, not of one round a call', async () => {
  const ended: string[] = [];
  for (let i = 0; i < 3; i++) {
    const { round } = await rollingOut(1);
    await answers(HONEST, round.id, 'rollout', tasksOf(1)[0]!.group);
    const [row] = await rowsOf(round.id, 'rollout', tasksOf(1)[0]!.group);
    const more = Array.from({ length: 60 }, (_, n) => ({
      ...{ id: deriveId('more', round.id, n), group: row!.group, index: 0, request: row!.request },
    }));
    await putUp(store.db, round.id, 'rollout', more, NOW);
    await failRound(store.db, round.id, ['rollout'], 'over', NOW);
    ended.push(round.id);
  }
  await forgetWork(store.db, NOW + 1);
  for (const round of ended) expect(await rowsOf(round, 'rollout', tasksOf(1)[0]!.group)).toEqual([]);
});

test('what a node forged before it was shut out is neither judged nor sealed: rolled out and waiting for its judge', async () => {
  const { round, messages } = await rollingOut(2);
  const [forged, other] = messages;
  await answers(CHEAT, round.id, 'rollout', forged!.group);
  // An earlier invocation left partial results.
  await rollOutGroups(invocation({ budgetMs: 5 * ROW_MS }).mesh, round.id, [forged!]);
  const before = invocation();
  await rollOutGroups(before.mesh, round.id, messages);
  expect(before.sent.judge).toHaveLength(2);
  expect(await shutOutCheat()).toEqual([
    { round: round.id, groups: messages.map(({ group, index }) => ({ group, index })) },
  ]);
  // The judge's messages come first.
  const judge = invocation();
  await judgeGroups(judge.mesh, round.id, before.sent.judge);
  expect([judge.sampled, judge.sent.scored]).toEqual([[], []]);
  expect([await stateOf(round.id, forged!.group), await stateOf(round.id, other!.group)]).toEqual([
    'rollout',
    'rollout',
  ]);
  const after = invocation();
  await rollOutGroups(
    after.mesh,
    round.id,
    messages.map((message) => ({ ...message, begun: true })),
  );
  expect(after.sampled).toEqual(expect.arrayContaining(sampleIds(round.id, forged!.group)));
  await judgeGroups(judge.mesh, round.id, after.sent.judge);
  expect(judge.sent.scored).toHaveLength(2);
  expect((await getRound(store.db, round.id))?.state).toBe('training');
});

test('nor what an isolate that is under way then makes of it: a rollout, a judgment, requests', async () => {
  const { round, messages } = await rollingOut(1);
  const { group } = messages[0]!;
  await answers(CHEAT, round.id, 'rollout', group);
  const rollout = invocation({ meanwhile: shutOutCheat });
  await rollOutGroups(rollout.mesh, round.id, messages);
  const early = invocation();
  await judgeGroups(early.mesh, round.id, rollout.sent.judge);
  expect(early.sent.scored).toEqual([]);

  const again = invocation();
  await rollOutGroups(again.mesh, round.id, messages);
  await answers(CHEAT, round.id, 'judge', group, 1);
  const judge = invocation({ meanwhile: shutOutCheat });
  await judgeGroups(judge.mesh, round.id, again.sent.judge);
  expect(await store.bucket.head(keys.scored(round.id, group))).toBeNull();
  expect(judge.sent.scored).toEqual([]);
  expect(await stateOf(round.id, group)).toBe('rollout');
  expect((await getRound(store.db, round.id))?.state).toBe('rollout');

  await answers(CHEAT, round.id, 'rollout', group, 1);
  expect(await rowsOf(round.id, 'rollout', group)).toEqual([]);
});

test('an error about what was there before a round was begun again fails nothing of it', async () => {
  const { round, messages } = await rollingOut(3);
  const poison = messages.find(({ index }) => tasksOf(3)[index]!.task === POISON)!;
  await answers(CHEAT, round.id, 'rollout', poison.group);
  expect(await rollOutGroups(invocation({ meanwhile: shutOutCheat }).mesh, round.id, [poison])).toEqual([]);
  await expect(rollOutGroups(invocation().mesh, round.id, [poison])).rejects.toThrow('It is poison.');
});

test('a round whose proposals it forged begins again, whatever is stored, sent or under way of it', async () => {
  const round = await openRound();
  const propose = { v: 1, round: round.id } as const;
  await answers(CHEAT, round.id, 'propose', PROPOSALS);
  const tasks = tasksOf(2).map((task) => ({ ...task, task: '9+9' }));
  await putJson(store.bucket, keys.proposals(round.id), { round: round.id, samples: [], tasks });
  await proposeRound(invocation().mesh, propose);
  const messages = tasks.map(({ group, index }) => ({ v: 1 as const, round: round.id, group, index }));
  const before = invocation();
  await rollOutGroups(before.mesh, round.id, messages);
  const { group } = messages[0]!;
  const episode = { grp: group, sample: 0, round: round.id };
  await writeAll(store.db, [
    sql`INSERT INTO episodes (grp, sample, round, idx, opening, state, opened_at, touched_at)
        VALUES (${episode.grp}, 0, ${episode.round}, 0, 'o', 'rewarded', 1, 1)`,
    sql`INSERT INTO calls (grp, sample, turn, role, request, asked, state) VALUES (${group}, 0, 0, 'solver', 'r', 'a', 'done')`,
  ]);
  await putJson(store.bucket, callKey(round.id, episodeKey(group), 0), {});

  expect(await shutOutCheat()).toEqual([{ round: round.id, groups: null }]);
  expect(await heldEpisodes(store.db, group)).toEqual([]);
  expect(await answeredCallsOf(store.db, episodeKey(group))).toEqual([]);
  expect(await store.bucket.get(callKey(round.id, episodeKey(group), 0))).toBeNull();

  // The object of the first attempt is there; an invocation of the second is overtaken by a third.
  await answers(CHEAT, round.id, 'propose', PROPOSALS, 1);
  const late = invocation({ meanwhile: shutOutCheat });
  await proposeRound(late.mesh, propose);
  expect((await getRound(store.db, round.id))?.state).toBe('proposing');
  const last = invocation();
  await proposeRound(last.mesh, propose);
  expect([late.sampled.length, last.sampled.length]).toEqual([1, 1]);
  expect((await groupsOf(store.db, round.id)).map(({ task }) => task)).toEqual(['0+1', '1+1']);

  // The judge's messages of the first attempt name groups of the same ids.
  const judge = invocation();
  await judgeGroups(judge.mesh, round.id, before.sent.judge);
  expect(judge.sent.scored).toEqual([]);
  expect(await stateOf(round.id, group)).toBe('rollout');
});

test.each(['rollout', 'propose'] as const)(
  'a round that ended meanwhile is not begun again: %s',
  async (stage) => {
    const { round, messages } = await rollingOut(1);
    const { group } = messages[0]!;
    await answers(CHEAT, round.id, stage, stage === 'propose' ? PROPOSALS : group);
    let calls = 0;
    const spied = Object.assign(Object.create(store.d1), {
      prepare: (query: string) => store.d1.prepare(query),
      batch: async (statements: Parameters<typeof store.d1.batch>[0]) => {
        // The node is shut out, its rounds are looked up, and then this one is changed.
        if (++calls === 3) await failRound(store.db, round.id, ['rollout'], 'over', NOW);
        return store.d1.batch(statements);
      },
    });
    expect(await shutOut(openDatabase(spied), store.bucket, CHEAT, 'forged', NOW)).toEqual([]);
    expect(calls).toBe(3);
    expect((await getRound(store.db, round.id))?.state).toBe('failed');
    expect(await stateOf(round.id, group)).toBe('rollout');
    expect(await rowsOf(round.id, stage, stage === 'propose' ? PROPOSALS : group)).toHaveLength(1);
  },
);

/** A group whose prompts hold gold in a part, rolled out by an invocation that leaves the rest to nodes. */
async function hintedRound() {
  const { round, messages } = await rollingOut(4);
  const message = messages.find(({ index }) => index === 3)!;
  const { group } = message;
  const run = (options: Options = {}, more: Partial<RolloutMesh> = {}) => {
    const { mesh, sampled, sent } = invocation(options);
    const done = rollOutGroups({ ...mesh, besideNodes: false, ...more }, round.id, [message]);
    return { done, sampled, sent };
  };
  const rows = async () =>
    (await rowsOf(round.id, 'rollout', group)).map(({ engine, state, samples }) => [engine, state, samples]);
  return { group, run, rows };
}
const ENGINE = 'onnx float32';

test('what holds gold isolates sample beside ordinary nodes, to which they leave the rest', async () => {
  const { group, run, rows } = await hintedRound();
  await seen(NOW);
  const { done, sampled, sent } = run();
  await done;
  expect(sampled).toEqual(hintIds(group));
  expect((await rows()).toSorted()).toEqual([
    [`${ENGINE} gold`, 'done', 2],
    [ENGINE, 'open', 16],
    [ENGINE, 'open', 4],
  ]);
  // Nodes have the rest, and their answers continue the group.
  expect([sent.rollout, sent.judge]).toEqual([[], []]);
});

test('a CPU budget that does not suffice for it is continued by a message of the stage', async () => {
  const { group, run, rows } = await hintedRound();
  await seen(NOW);
  const first = run({ budgetMs: ROW_MS });
  expect(await first.done).toHaveLength(1);
  expect(first.sampled).toEqual(hintIds(group).slice(0, 1));
  expect(first.sent.rollout).toMatchObject([{ group, begun: true }]);
  const second = run({ budgetMs: ROW_MS });
  await second.done;
  expect(second.sampled).toEqual(hintIds(group).slice(1));
  expect(second.sent.rollout).toEqual([]);
  expect((await rows()).filter(([, state]) => state === 'open')).toHaveLength(2);
});

test('a node whose token is for gold is left it as well', async () => {
  const { run, rows } = await hintedRound();
  await seen(NOW, NOW);
  const { done, sampled } = run();
  // It is no progress of the round, either.
  expect(await done).toEqual([]);
  expect(sampled).toEqual([]);
  expect(await rows()).toEqual([[`${ENGINE} gold`, 'open', 2]]);
});

test('a close node with such a token has what can be scored again, and no more', async () => {
  const setOwn = (exactness: string) =>
    writeAll(store.db, [sql`UPDATE nodes SET exactness = ${exactness} WHERE sees_gold`]);
  await setOwn('close');
  try {
    const { run, rows } = await hintedRound();
    await seen(NOW, NOW);
    await run({ noRoom: true }, { besideNodes: true }).done;
    expect(await rows()).toEqual([[`${ENGINE} gold`, 'open', 2]]);
    hintsAt = 0;
    const { run: again } = await hintedRound();
    await expect(again({ noRoom: true }, { besideNodes: true }).done).rejects.toThrow(
      /node-token create NAME --gold/,
    );
  } finally {
    hintsAt = 1;
    await setOwn('exact');
  }
});

test('a policy that no isolate has room for: the error names the token that it takes, unless there is such a node', async () => {
  const said = expect.stringMatching(
    /hold reference answers.*at most 100 MiB.*node-token create NAME --gold/,
  );
  const error = expect.objectContaining({ code: 'policy.isolate', kind: 'give-up', message: said });
  for (const [at, own, besideNodes] of [
    [NOW, 0, false],
    [NOW, 0, true],
    [0, 0, true],
  ] as const) {
    const { run, rows } = await hintedRound();
    await seen(at, own);
    await expect(run({ noRoom: true }, { besideNodes }).done).rejects.toEqual(error);
    expect(await rows()).toEqual(at ? [[`${ENGINE} gold`, 'open', 2]] : []);
  }
  const { run, rows } = await hintedRound();
  await seen(NOW, NOW);
  await run({ noRoom: true }, { besideNodes: true }).done;
  expect(await rows()).toEqual([[`${ENGINE} gold`, 'open', 2]]);
  // Without gold in its prompts any node will do.
  await seen(0);
  const { round, messages } = await rollingOut(1);
  const plain = rollOutGroups(invocation({ noRoom: true }).mesh, round.id, messages);
  await expect(plain).rejects.toThrow(/Lend a machine with `rollmesh node`/);
});

test('proposals that nodes hold are no progress of their round', async () => {
  const round = await openRound();
  await seen(NOW);
  const propose = { v: 1, round: round.id } as const;
  expect(await proposeRound({ ...invocation().mesh, besideNodes: false }, propose)).toEqual([]);
  expect(await rowsOf(round.id, 'propose', PROPOSALS)).toMatchObject([{ state: 'open' }]);
});
