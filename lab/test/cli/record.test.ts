import { expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { judged, measuredNow, type Played } from '../../cli/record.ts';
import { armSeeds, seedsOf } from '../../rule/claim.ts';
import { digestOf, register, settingsOf } from '../../rule/registration.ts';
import { runOf } from '../rule/runs.ts';

const trio = claimed.find('trio');

const claim = trio.claim;
const registered = register(trio, {
  attempt: 3,
  registeredAt: '2026-01-01T00:00:00.000Z',
  engine: 'onnx',
  start: { policy: trio.startPolicy, sha256: 'abc', seeds: 'one' },
});
const attempts = { recipe: 'trio', earlier: [], starts: 1, moved: [], pilots: [] };
const machine = { cpu: 'x', cores: 2, node: 'v20', commit: 'abc', at: '2026-01-02' };
const legacy: Played = {
  recipe: 'trio',
  machine,
  settings: { start: trio.startPolicy, ...settingsOf(trio) },
  rounds: claim.rounds,
  seeds: seedsOf(claim),
  arms: claim.arms.map((arm) => ({ ...arm, runs: armSeeds(claim, arm).map(() => runOf(0.3, 0.6)) })),
};
const record: Played = {
  ...legacy,
  registration: {
    digest: digestOf(registered),
    commit: 'def',
    at: '2026-01-01T00:00:05Z',
    began: '2026-01-01T01:00:00.000Z',
    measured: measuredNow(trio, legacy),
  },
};

test('a record that was played under its registration is judged', () => {
  const { verdict, attempt, conditions } = judged(record, trio, attempts, registered);
  expect(conditions[0]).toMatchObject({ description: 'mix: greedy accuracy rises', outcome: 'holds' });
  expect({ verdict, attempt }).toEqual({ verdict: 'no effect shown', attempt: 3 });
});

test('a record from before registrations is judged as it is, and counts the attempts that are known', () => {
  const earlier = [
    { seeds: [0], rounds: 1, verdict: 'no effect shown', held: 1, conditions: 2, commit: null, changed: '' },
  ];
  expect(judged(legacy, trio, { ...attempts, earlier }).attempt).toBe(1);
});

const under = record.registration!;
test.each([
  ['its registration is gone', record, undefined],
  ['another registration', record, { ...registered, attempt: 4 }],
  ['younger than its run', { ...record, registration: { ...under, at: '2026-01-01T02:00:00Z' } }, registered],
])('refused: %s', (why, played, registration) => {
  expect(() => judged(played, trio, attempts, registration)).toThrow(new RegExp(`not judged: .*${why}`));
});

test('a claim that was changed after its run is refused, and so are measures that give other numbers', () => {
  const moved = { ...trio, claim: { ...claim, conditions: claim.conditions.slice(1) } };
  expect(() => judged(record, moved, attempts, registered)).toThrow(/its conditions differ/);
  const [first, ...others] = claim.conditions;
  const measures = { ...trio, claim: { ...claim, conditions: [{ ...first!, measure: () => 1 }, ...others] } };
  expect(() => judged(record, measures, attempts, registered)).toThrow(
    /measure other numbers than when its run ended/,
  );
});
