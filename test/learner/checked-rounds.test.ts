/** The records of a round that are checked while another round's version is published: used where the round is still the same, else checked again. */
import { beforeAll, expect, test } from 'vitest';
import { keys } from '../../core/schema/round.ts';
import { openAudit } from '../../learner/loop/auditor.ts';
import { CheckedRounds } from '../../learner/loop/checked-rounds.ts';
import { Collector } from '../../learner/loop/collect.ts';
import { shipped } from '../../recipes/index.ts';
import { playHonestRound } from '../trust/honest-round.ts';
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
beforeAll(async () => {
  honest = storeRound(await playHonestRound(1, 4, 2));
});

const BEFORE = 'e'.repeat(32);
const recipe = shipped.find('trio');

/** A round whose messages have arrived, and the objects of it that were read since. */
function arrived(round: StoredRound, messages = messagesOf(round)) {
  const { gateway } = gatewayOf(round);
  const collector = new Collector();
  for (const body of messages) collector.add({ lease: body.group, body });
  const read: string[] = [];
  const objects = {
    getObject: (key: string, sha256?: string) => {
      read.push(key);
      return gateway.getObject(key, sha256);
    },
  };
  const settings = { recipes: shipped, meshKey: MESH_KEY, audit: openAudit(1) };
  const checked = new CheckedRounds(gateway, settings, { objects, collector });
  const take = () => checked.take(recipe, stateOf(round), round.rows, messagesOf(round));
  /** Publishes another round's version until what is checked meanwhile has been. */
  const publish = (bytes = 1) => checked.publishing(BEFORE, bytes, () => checked.idle());
  return { collector, checked, read, take, publish };
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

test('what is refused early is checked again, and refused when its turn comes', async () => {
  const round = copyOf(honest);
  const [row] = round.rows;
  const key = keys.scored(round.spec.id, row!.group);
  const scored = JSON.parse(new TextDecoder().decode(round.objects.get(key)));
  scored.samples[0].logprobs[0] -= 0.001;
  row!.sha256 = putObject(round, key, scored);
  sealAll(round);
  const { read, take, publish } = arrived(round);
  await publish();
  const { groups, refused } = await take();
  expect(read).toHaveLength(2 * round.rows.length);
  expect(groups.map(({ group }) => group)).toEqual(groupsOf(round).slice(1));
  expect(refused).toMatchObject([{ group: row!.group, failure: { code: 'audit.log-probability' } }]);
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

test.each([
  ['where nothing is published', async ({ checked }: ReturnType<typeof arrived>) => checked.arrived()],
  ['beside a large version', async ({ publish }: ReturnType<typeof arrived>) => publish(1 << 30)],
])('no round is checked early %s', async (_, act) => {
  const round = copyOf(honest);
  const scene = arrived(round);
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
  const { take, publish } = arrived(round);
  await publish();
  round.objects.set(proposals, bytes);
  expect((await take()).groups).toHaveLength(round.rows.length);
});
