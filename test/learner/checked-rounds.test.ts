/** The records of a round that are checked while another round's version is published: used where the round is still the same, else checked again. */
import { beforeAll, expect, test, vi } from 'vitest';
import { keys, type ScoredMessage } from '../../core/schema/round.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { CheckedRounds } from '../../learner/loop/checked-rounds.ts';
import { Collector } from '../../learner/loop/collect.ts';
import { runLearner } from '../../learner/loop/loop.ts';
import { shipped } from '../../recipes/index.ts';
import { playHonestRound } from '../trust/honest-round.ts';
import { NotingTrainer } from '../trust/learner-on-stored-round.ts';
import {
  copyOf,
  gatewayOf,
  MESH_KEY,
  messagesOf,
  putObject,
  type StoredRound,
  sealAll,
  stateOf,
  storeRound,
} from '../trust/stored-round.ts';

let honest: StoredRound;
let following: StoredRound;
beforeAll(async () => {
  honest = storeRound(await playHonestRound(1, 4, 2));
  following = storeRound(await playHonestRound(2, 4, 2));
});

const BEFORE = 'e'.repeat(32);
const recipe = shipped.find('trio');

/** A round whose messages have arrived, and the objects of it that were read since. */
function arrived(round: StoredRound, messages: readonly ScoredMessage[] = messagesOf(round), fraction = 0.1) {
  const { gateway } = gatewayOf(round);
  const asked = vi.spyOn(gateway, 'getRound');
  const collector = new Collector();
  for (const body of messages) collector.add({ lease: body.group, body });
  const read: string[] = [];
  const objects = {
    getObject: (key: string, sha256?: string) => {
      read.push(key);
      return gateway.getObject(key, sha256);
    },
  };
  const logged: unknown[] = [];
  const settings = { recipes: shipped, meshKey: MESH_KEY, audit: openAudit(fraction) };
  const log = (event: string, fields: object) => void logged.push({ event, ...fields });
  const checked = new CheckedRounds(gateway, settings, { objects, collector, log });
  const take = (trainingAt = 3) =>
    checked.take(recipe, { ...stateOf(round), trainingAt }, round.rows, messagesOf(round));
  /** Publishes another round's version until what is checked meanwhile has been. */
  const publish = (bytes = 1) => checked.publishing(BEFORE, bytes, () => checked.idle());
  return { asked, collector, checked, logged, read, take, publish };
}

const groupsOf = ({ rows }: StoredRound) => rows.map(({ group }) => group);
const scoredOf = ({ spec, rows }: StoredRound) => rows.map(({ group }) => keys.scored(spec.id, group));

test('while a version is published the next round is checked, and its records are not read again', async () => {
  const round = copyOf(honest);
  const { read, take, publish } = arrived(round);
  await publish();
  expect(read.toSorted()).toEqual(scoredOf(round).toSorted());
  const { groups, refused } = await take();
  expect([groups.map(({ group }) => group), refused]).toEqual([groupsOf(round), []]);
  expect(read).toHaveLength(round.rows.length);
  // It is used once.
  await take();
  expect(read).toHaveLength(2 * round.rows.length);
});

test('what the audit refuses early is refused when its turn comes, and not read again', async () => {
  const round = copyOf(honest);
  const [row] = round.rows;
  const key = keys.scored(round.spec.id, row!.group);
  const scored = JSON.parse(new TextDecoder().decode(round.objects.get(key)));
  scored.samples[0].rewards.reward += 1;
  row!.sha256 = putObject(round, key, scored);
  sealAll(round);
  const { read, take, publish } = arrived(round);
  await publish();
  const { groups, refused } = await take();
  expect(read).toHaveLength(round.rows.length);
  expect(groups.map(({ group }) => group)).toEqual(groupsOf(round).slice(1));
  expect(refused).toMatchObject([
    { group: row!.group, failure: { code: expect.stringMatching(/^audit\./) } },
  ]);
});

test('a group that is another one by then is checked again, as it is then', async () => {
  const round = copyOf(honest);
  const { read, take, publish } = arrived(round);
  await publish();
  const [row] = round.rows;
  const key = keys.scored(round.spec.id, row!.group);
  row!.sha256 = putObject(round, key, { forged: true });
  sealAll(round);
  const { groups, refused } = await take();
  expect(read).toHaveLength(2 * round.rows.length);
  expect(groups).toHaveLength(round.rows.length - 1);
  expect(refused).toMatchObject([{ group: row!.group, failure: { code: 'group.damaged' } }]);
});

test('a round of which a role was changed meanwhile is refused by its seal', async () => {
  const round = copyOf(honest);
  const { logged, take, publish } = arrived(round);
  await publish();
  round.spec.roles = { ...round.spec.roles, solver: { ...round.spec.roles.solver!, set: 'other' } };
  const { groups, refused } = await take();
  expect(groups).toEqual([]);
  expect(refused.map(({ failure }) => failure.code)).toEqual(round.rows.map(() => 'group.seal'));
  expect(logged).toEqual([{ event: 'round.changed', round: round.spec.id, refused: '' }]);
});

test('a round that was begun again meanwhile is checked again', async () => {
  const round = copyOf(honest);
  const { read, take, publish } = arrived(round);
  await publish();
  expect((await take(4)).groups).toHaveLength(round.rows.length);
  expect(read).toHaveLength(2 * round.rows.length);
});

test('a message that arrives while the version is published completes the round', async () => {
  const round = copyOf(honest);
  const [last, ...others] = messagesOf(round);
  const { collector, checked, read, take } = arrived(round, others);
  await checked.publishing(BEFORE, 1, async () => {
    await checked.idle();
    expect(read).toEqual([]);
    collector.add({ lease: 'last', body: last! });
    checked.arrived();
    await checked.idle();
  });
  expect(read).toHaveLength(round.rows.length);
  expect((await take()).groups).toHaveLength(round.rows.length);
  expect(read).toHaveLength(round.rows.length);
});

test('a round that is not complete keeps no other from being checked, and is asked for once', async () => {
  const round = copyOf(honest);
  const [message] = messagesOf(round);
  const { asked, checked, read, publish } = arrived(round, [
    { ...message!, round: 'f'.repeat(32) },
    ...messagesOf(round),
  ]);
  const unknown = () => asked.mock.calls.filter(([id]) => id !== round.spec.id).length;
  await publish();
  expect(read).toHaveLength(round.rows.length);
  expect(unknown()).toBe(1);
  await checked.publishing(BEFORE, 1, async () => {
    for (let i = 0; i < 3; i++) {
      checked.arrived();
      await checked.idle();
    }
  });
  expect(unknown()).toBe(1);
});

test.each([
  ['where nothing is published', 0.1, async ({ checked }: ReturnType<typeof arrived>) => checked.arrived()],
  ['beside a large version', 0.1, ({ publish }: ReturnType<typeof arrived>) => publish(1 << 30)],
  ['where most of it is sampled again', 1, ({ publish }: ReturnType<typeof arrived>) => publish()],
])('no round is checked early %s', async (_, fraction, act) => {
  const round = copyOf(honest);
  const scene = arrived(round, messagesOf(round), fraction);
  await act(scene);
  await scene.checked.idle();
  expect(scene.read).toEqual([]);
  expect((await scene.take()).groups).toHaveLength(round.rows.length);
});

test('a mesh that cannot be read early is asked again when the turn comes', async () => {
  const round = copyOf(honest);
  const proposals = keys.proposals(round.spec.id);
  const bytes = round.objects.get(proposals)!;
  round.objects.delete(proposals);
  const { read, take, publish } = arrived(round);
  await publish();
  expect(read).toHaveLength(round.rows.length);
  round.objects.set(proposals, bytes);
  expect((await take()).groups).toHaveLength(round.rows.length);
});

test('the learner checks a round that arrives while the version before is published, and evaluates when it is done', async () => {
  const rounds = [copyOf(honest), copyOf(following)];
  const [first, second] = rounds.map((round) => round.spec.id) as [string, string];
  const stored = new Map(rounds.map((round) => [round.spec.id, gatewayOf(round).gateway]));
  const of = (id: string) => stored.get(id)!;
  const events: string[] = [];
  const read = new AbortController();
  const stop = new AbortController();
  const pulls = [messagesOf(rounds[0]!)];
  const gateway = {
    getRound: (id: string) => of(id).getRound(id),
    getGroups: (id: string) => of(id).getGroups(id),
    getPolicy: (name: string) => of(first).getPolicy(name),
    getVersion: (...asked: Parameters<ReturnType<typeof of>['getVersion']>) => of(first).getVersion(...asked),
    getObject: (key: string) => {
      if (key === keys.proposals(second) && !read.signal.aborted) read.abort();
      return of(key.includes(second) ? second : first).getObject(key);
    },
    getRoundWork: async (id: string) => {
      // An audit takes longer than the rest of the publication.
      await new Promise((resolve) => setTimeout(resolve, 50));
      events.push(`audits ${id === first ? 1 : 2}`);
      return { nodes: [], work: [] };
    },
    report: async () => {},
    putVersion: async () => {
      if (events.includes('publishes 1')) return void events.push('publishes 2');
      events.push('publishes 1');
      pulls.push(messagesOf(rounds[1]!));
      await new Promise<void>((resolve) => read.signal.addEventListener('abort', () => resolve()));
    },
  };
  const queue = {
    pull: async () => ({
      messages: (pulls.shift() ?? []).map((body, i) => ({ lease: `${i}`, body, attempts: 1 })),
    }),
    ack: async () => {},
    retry: async () => {},
  };
  const evaluate = async ({ spec }: { spec: { id: string } }) => {
    events.push(`evaluates ${spec.id === first ? 1 : 2}`);
    if (spec.id === second) stop.abort();
    return null;
  };
  await runLearner(
    { queue, gateway, trainer: new NotingTrainer(), evaluate, log: () => {} } as never,
    {
      ...{ recipes: shipped, meshKey: MESH_KEY, maxStaleness: 2, leaseMs: 60_000, longestIdleMs: 10 },
      ...{ device: 'test', audit: openAudit(0.1) },
    },
    stop.signal,
  );
  expect(events).toEqual([
    'audits 1',
    'publishes 1',
    'audits 2',
    'evaluates 1',
    'publishes 2',
    'evaluates 2',
  ]);
});
