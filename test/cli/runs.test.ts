/** Which run a person means, and what a change makes of its label. */
import { expect, test } from 'vitest';
import { changedLabel, changedSince, runMeant } from '../../cli/runs.ts';
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

test('a run on files of the same names as an interrupted one, which it is not, says so', () => {
  const settings = {
    recipe: 'grpo-1',
    policy: 'mine',
    seed: 3,
    tasks: 4,
    groupSize: 2,
  } as ListedRun['settings'];
  const paused = { ...run('a'), called: 'grpo on a.jsonl', settings, done: 1, target: 2 };
  const begun = { called: 'grpo on a.jsonl', settings: { ...settings, recipe: 'grpo-2' } };
  expect(changedSince(begun, [paused])).toMatch(
    /^grpo on a\.jsonl, seed 3, 4 × 2 was interrupted after 1 of 2 rounds, and its tasks or settings were other ones: this is another run\. --resume/,
  );
  expect(changedSince({ ...begun, called: 'grpo on b.jsonl' }, [paused])).toBeNull();
  expect(changedSince({ settings }, [{ ...paused, called: undefined } as unknown as ListedRun])).toBeNull();
  expect(changedSince(begun, [{ ...paused, settings: { ...settings, policy: 'other' } }])).toBeNull();
});
