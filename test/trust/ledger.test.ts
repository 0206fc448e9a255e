import { expect, test } from 'vitest';
import type { GroupStates, RoundState } from '../../core/schema/answers.ts';
import { balance, type LedgerRound } from '../faults/ledger.ts';

const hex = (n: number) => n.toString(16).padStart(32, '0');
const round = (index: number): RoundState => ({
  id: hex(index),
  run: hex(99),
  index,
  recipe: 'trio',
  state: 'done',
  roles: { solver: { name: 'p', version: index - 1 } },
  spec: {
    id: hex(index),
    run: hex(99),
    index,
    settings: {
      recipe: 'trio',
      seed: 0,
      policy: 'p',
      rewardFunction: 'mix',
      freeze: [],
      tasks: 2,
      groupSize: 2,
    },
    roles: { solver: { name: 'p', version: index - 1 } },
  },
  expected: 2,
  proposed: 3,
  proposalsSha256: null,
  manifests: {},
  waitsFor: null,
  groups: { rollout: 0, scored: 0, trained: 2, failed: 0 },
  reason: null,
  version: index,
  usage: null,
  report: {},
  createdAt: 0,
  rolloutAt: 1,
  trainingAt: 2,
  endedAt: 3,
  failures: [],
});
const group = (id: number, state: GroupStates[number]['state'] = 'trained') => ({
  group: hex(id),
  index: id % 10,
  task: '1+2',
  state,
  sha256: null,
  mac: null,
  failure: null,
});
const entry = (index: number): LedgerRound => ({
  round: round(index),
  groups: [group(10 * index), group(10 * index + 1)],
  manifest: {
    policy: 'p',
    version: index,
    parent: index - 1,
    files: {},
    groups: [hex(10 * index), hex(10 * index + 1)],
    round: hex(index),
    settings: {},
  },
});
const errorsOf = (second: LedgerRound) => balance([entry(1), second]).errors;

test('right books balance', () => {
  expect(balance([entry(1), entry(2)])).toEqual({
    rounds: 2,
    admitted: 4,
    trained: 4,
    failed: 0,
    lost: 0,
    trainedTwice: 0,
    errors: [],
  });
});

test('a failed group is accounted for, a group that waits in an ended round is lost', () => {
  const one = { ...entry(2), manifest: { ...entry(2).manifest!, groups: [hex(20)] } };
  expect(balance([entry(1), { ...one, groups: [group(20), group(21, 'failed')] }])).toMatchObject({
    trained: 3,
    failed: 1,
    lost: 0,
    errors: [],
  });
  for (const state of ['rollout', 'scored'] as const)
    expect(balance([entry(1), { ...one, groups: [group(20), group(21, state)] }])).toMatchObject({
      lost: 1,
      errors: ['1 groups of ended rounds are neither trained nor failed'],
    });
});

test('whatever else is wrong is said', () => {
  const { manifest } = entry(2);
  const made = (change: object) => errorsOf({ ...entry(2), manifest: { ...manifest!, ...change } });
  expect(made({ groups: [hex(10), hex(21)] })).toEqual([
    '1 groups are named by more than one version',
    'round 2: its version names other groups than those that are trained',
  ]);
  expect(made({ groups: [hex(20)] })).toHaveLength(1);
  expect(made({ parent: 0 })).toEqual(['round 2: trained from version 0']);
  expect(made({ version: 3 })).toEqual(['round 2: made version 3']);
  expect(made({ round: hex(1) })).toEqual(['round 2: its version names another round']);
  const ended = (change: Partial<RoundState>) => errorsOf({ ...entry(2), round: { ...round(2), ...change } });
  expect(ended({ state: 'training' })).toEqual(['round 2: ended as training: null']);
  expect(ended({ report: null })).toEqual(['round 2: has no report']);
  expect(ended({ expected: 3 })).toEqual(['round 2: 3 groups were admitted, 2 are known']);
  expect(errorsOf({ ...entry(2), manifest: null })).toEqual(['round 2: made no version']);
  expect(errorsOf({ ...entry(3) })).toContain('round 3: stands at place 2');
});
