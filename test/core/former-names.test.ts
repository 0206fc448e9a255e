/** Objects and requests of earlier releases, which called some fields otherwise: what is stored is read, what is asked is told the new name. */
import { createHash, createHmac } from 'node:crypto';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { isAuthentic, provenanceMac } from '../../core/audit/provenance.ts';
import { roundOf, roundSpec, runIdOf, runSettings } from '../../core/schema/round.ts';
import { scoredGroup } from '../../core/schema/sample.ts';
import { runOrder } from '../../recipes/run-order.ts';

const settings = v.parse(runSettings, {
  recipe: 'trio',
  seed: 3,
  policy: 'trio-3',
  rewardFunction: 'mix',
  freeze: [],
  tasks: 4,
  groupSize: 2,
});
const { rewardFunction, groupSize, ...rest } = settings;
const former = { ...rest, reward: rewardFunction, group: groupSize };
const id = 'a'.repeat(32);

test('settings under their former names are the same settings, and the same run', () => {
  expect(v.parse(runSettings, former)).toEqual(settings);
  // As in `deriveId`: the values alone, joined, whatever their fields are called.
  const derived = createHash('sha256').update(
    'run\u0000trio\u00003\u0000trio-3\u0000mix\u0000\u00004\u00002',
  );
  expect(runIdOf(settings)).toBe(derived.digest('hex').slice(0, 32));
});

test('a field under both names keeps the value of the present one', () => {
  expect(v.parse(runSettings, { group: 9, ...settings })).toEqual(settings);
  expect(v.parse(runSettings, { ...settings, group: 9 })).toEqual(settings);
});

test('a scored group under its former names is read under the present ones', () => {
  const judgment = {
    id,
    role: 'judge',
    policy: { name: 'trio-3', version: 0 },
    prompt: [1],
    ids: [2],
    logprobs: [-0.5],
    stopped: true,
    outcome: 'ok',
    rewards: {},
  };
  const group = { round: id, group: id, index: 0, task: '1+2', proposal: null, samples: [] };
  const read = v.parse(scoredGroup, {
    ...group,
    judgments: [{ ...judgment, oracle: { truth: true, hit: false } }],
    gold: [true, null],
    truth: [false, null],
  });
  expect(read).toEqual({
    ...group,
    judgments: [{ ...judgment, oracle: { right: true, hit: false } }],
    answersExact: [true, null],
    solutionsExact: [false, null],
  });
});

test('the seal of a round is made of the former names, so that an earlier seal is still authentic', () => {
  const spec = roundOf(settings, { solver: {} }, 1, 0);
  const canonical = (value: unknown): string =>
    Array.isArray(value)
      ? `[${value.map(canonical).join(',')}]`
      : typeof value === 'object' && value !== null
        ? `{${Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([field, content]) => `${JSON.stringify(field)}:${canonical(content)}`)
            .join(',')}}`
        : JSON.stringify(value);
  const round = { spec, proposalsSha256: 'b'.repeat(64), manifests: { 'trio-3@0': 'c'.repeat(64) } };
  const sha256 = 'd'.repeat(64);
  const sealed = [
    'scored 2',
    { ...spec, settings: former },
    round.proposalsSha256,
    round.manifests,
    id,
    sha256,
  ];
  const mac = createHmac('sha256', 'key').update(canonical(sealed)).digest('hex');
  expect(provenanceMac('key', round, { group: id, sha256 })).toBe(mac);
  const read = v.parse(roundSpec, { ...spec, settings: former });
  expect(isAuthentic('key', { ...round, spec: read }, { round: spec.id, group: id, sha256, mac })).toBe(true);
});

test.each([
  ['group', 8, 'groupSize'],
  ['reward', 'gold', 'rewardFunction'],
])('an order with the former field %s is told the present one', (field, value, present) => {
  const { issues } = v.safeParse(runOrder, { recipe: 'trio', [field]: value }, { abortEarly: true });
  expect(issues?.[0]).toMatchObject({
    message: `The field "${field}" is called "${present}" now`,
    expected: `"${present}"`,
  });
});
