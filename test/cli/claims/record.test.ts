import { expect, test } from 'vitest';
import { judged, missingArms, type Played, settingsOf, withArms } from '../../../cli/claims/record.ts';
import { claimOf } from '../../../core/claim.ts';
import { shipped } from '../../../recipes/index.ts';

const recipe = shipped.find('trio');
const { seeds, rounds, arms } = claimOf(recipe);
const machine = { cpu: 'x', cores: 2, node: 'v20', commit: 'abc', at: '2026-01-01' };
const played = arms.map((arm) => ({ ...arm, runs: [] }));
const settings = settingsOf(recipe);
const record: Played = { recipe: 'trio', machine, settings, rounds, seeds, arms: played.slice(0, -2) };

test('a record lacks the arms that its claim has gained', () => {
  expect(missingArms(record, recipe)).toEqual(arms.slice(-2).map(({ name }) => name));
  expect(missingArms({ ...record, arms: played }, recipe)).toEqual([]);
  expect(() => judged(record, recipe)).toThrow(/no runs of its arm "format".*claims -- trio --missing/s);
});

test('arms of other seeds or of another length do not go into one record', () => {
  expect(() => missingArms({ ...record, seeds: [7] }, recipe)).toThrow(
    /seeds 7, 40 rounds.*npm run claims -- trio/s,
  );
  expect(() => missingArms({ ...record, rounds: 9 }, recipe)).toThrow(/9 rounds/);
  const larger = { ...record, settings: { ...settings, group: 99 } };
  expect(() => missingArms(larger, recipe)).toThrow(/otherwise.*"group":99/s);
});

test('added arms stand in the claim’s order and say where they were played', () => {
  const later = { ...machine, commit: 'def' };
  const added = [played.at(-2)!, played.at(-1)!];
  const whole = withArms(record, added, later, recipe);
  expect(whole.arms.map(({ name }) => name)).toEqual(arms.map(({ name }) => name));
  expect(whole.arms.map((arm) => arm.machine?.commit)).toEqual([
    ...record.arms.map(() => undefined),
    'def',
    'def',
  ]);
  expect(whole.machine.commit).toBe('abc');
});
