/** Which run a person means, and what a change makes of its label. */
import { expect, test } from 'vitest';
import { changedLabel, runMeant } from '../../cli/runs.ts';
import { type ListedRun, NO_LABEL, type RunLabel } from '../../core/schema/answers.ts';

const run = (id: string, label: Partial<RunLabel> = {}) =>
  ({ id: id.padEnd(32, '0'), label: { ...NO_LABEL, ...label } }) as ListedRun;
const none = { tag: [], untag: [] };

test('a run is meant by its id, the beginning of it, its name, or as the last', () => {
  const runs = [run('abcd1'), run('abcd2', { name: 'baseline' }), run('beef')];
  for (const [asked, index] of [
    ['last', 0],
    ['abcd2', 1],
    ['baseline', 1],
    ['beef', 2],
    ['beef'.padEnd(32, '0'), 2],
  ] as const)
    expect(runMeant(runs, asked)).toBe(runs[index]);
  expect(() => runMeant(runs, 'abcd')).toThrow('2 runs are called "abcd"');
  expect(() => runMeant(runs, 'be')).toThrow('There is no run "be"');
  expect(() => runMeant([], 'last')).toThrow('There is no run "last"');
});

test('a change keeps what it does not name', () => {
  const before = { name: 'old', tags: ['b'], hidden: true };
  expect(changedLabel(before, { ...none, tag: ['a', 'b'] })).toEqual({ ...before, tags: ['a', 'b'] });
  expect(changedLabel(before, { ...none, untag: ['b'], show: true })).toEqual({
    name: 'old',
    tags: [],
    hidden: false,
  });
  expect(changedLabel(before, { ...none, name: ' ' }).name).toBeNull();
  expect(() => changedLabel(before, none)).toThrow('Nothing is said of the run');
  expect(() => changedLabel(before, { ...none, hide: true, show: true })).toThrow('both hidden and shown');
});
