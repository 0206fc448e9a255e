import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { cleaned, failuresOf, similarity, takenOut } from '../../recipes/cleaner/recipe.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

test('a search fails where it finds nothing that was not found before', () => {
  expect(failuresOf([['a'], [], ['a'], ['b', 'a'], ['a', 'b']])).toEqual([false, true, true, false, true]);
});

test('queries are as similar as the share of their words that both have', () => {
  // {south, tower} and {south, tower, height}: two of three.
  expect(similarity('South tower', 'south tower height')).toBeCloseTo(2 / 3, 9);
  expect(similarity('mill', 'south tower')).toBe(0);
});

test('failures before a search that makes up for them are taken out, and others stay', () => {
  // "mill" and "a c" found nothing new until "wheel" did, which has no word of "mill".
  expect(cleaned(['a b', 'mill', 'a c', 'wheel'], [false, true, true, false], 5)).toEqual([
    { turn: 0, kept: [] },
    { turn: 3, kept: [0] },
    { turn: 4, kept: [0, 3] },
  ]);
  expect(cleaned(['a b', 'a b c'], [true, false], 3)).toEqual([
    { turn: 0, call: 1, kept: [] },
    { turn: 2, kept: [1] },
  ]);
  // The first of two failures lends its text, not the second.
  expect(cleaned(['a b', 'mill', 'a b c'], [true, true, false], 4)).toEqual([
    { turn: 0, call: 2, kept: [] },
    { turn: 3, kept: [2] },
  ]);
  expect(cleaned(['a', 'a'], [false, true], 3)).toEqual([
    { turn: 0, kept: [] },
    { turn: 1, kept: [0] },
    { turn: 2, kept: [0, 1] },
  ]);
  expect(cleaned([], [], 1)).toEqual([{ turn: 0, kept: [] }]);
});

test('at random as many searches are taken out as were made up for, and never the last', () => {
  const seeds = Array.from({ length: 40 }, (_, seed) => `seed ${seed}`);
  const drawn = (failed: readonly boolean[]) => seeds.map((seed) => takenOut(failed, new Random(seed)));
  const counts = (failed: readonly boolean[]) =>
    new Set(drawn(failed).map((taken) => taken.filter(Boolean).length));
  // Nothing makes up for a failure after which no search succeeds.
  expect(counts([false, true, true])).toEqual(new Set([0]));
  expect(counts([true, true])).toEqual(new Set([0]));
  expect(counts([])).toEqual(new Set([0]));
  expect(counts([false, true, false, true])).toEqual(new Set([1]));
  expect(counts([true, true, false])).toEqual(new Set([2]));
  const places = drawn([false, true, false, true]).map((taken) => taken.indexOf(true));
  expect(new Set(places)).toEqual(new Set([0, 1, 2]));
});

const documents = [
  'The north tower is 40 metres high.',
  'The south tower is 55 metres high.',
  'The mill has a wheel.',
];

/** Two episodes: one looks for a spire, which nothing is said of, and then for a tower; the other answers at once, wrongly. */
const searched = (first: string, variant?: string) => {
  const says = (_: string, prompt: string): readonly string[] => {
    if (prompt.includes('<search>south tower</search>')) return ['<answer>55</answer>'];
    if (prompt.includes('Found:')) return ['Now better. <search>south tower</search>'];
    return [`I look. <search>${first}</search>`, '<answer>40</answer>'];
  };
  const tasks = [{ ...sayTask('How high is it?', '55', 1), metadata: { documents } }];
  return play({
    recipe: 'cleaner',
    tasks: 1,
    groupSize: 2,
    positions: 4096,
    atStart: -0.5,
    given: { sources: [{ weight: 1, tasks }] },
    says,
    ...(variant ? { variant } : {}),
  });
};
const itemsOf = ({ plan }: Awaited<ReturnType<typeof searched>>) =>
  (plan.updates[0]!.parts[0] as PolicyPart).items;

test('a round: the failed search is as if it had not been, and what was changed is scored again', async () => {
  const played = await searched('spire');
  const items = itemsOf(played);
  expect(items.map(({ sample }) => played.read(sample))).toEqual([
    'Now better. <search>south tower</search>',
    '<answer>55</answer>',
    '<answer>40</answer>',
  ]);
  const [first, second, other] = items.map(({ sample }) => sample);
  // The later search is asked for as the first, and the answer after it alone.
  expect(first!.prompt).toEqual(other!.prompt);
  expect(played.read({ ids: second!.prompt })).not.toContain('spire');
  expect(played.read({ ids: second!.prompt })).toContain('The south tower is 55');
  // They were sampled at −1 after other prompts; this policy gives each token −0.5 there.
  expect(new Set(first!.logprobs)).toEqual(new Set([-0.5]));
  expect(first!.logprobs).toHaveLength(first!.ids.length);
  expect(new Set(second!.logprobs)).toEqual(new Set([-0.5]));
  expect(new Set(other!.logprobs)).toEqual(new Set([-1]));
  expect(items.map(({ advantage }) => advantage)).toEqual(
    [Math.SQRT1_2, Math.SQRT1_2, -Math.SQRT1_2].map((value) => expect.closeTo(value, 5)),
  );
  expect(played.plan.figures).toEqual({ searches: 1, failed: 0.5, cleaned: 0.5 });
});

test('where the failed search was the same idea, its text is kept and its query replaced', async () => {
  const tasks = [{ ...sayTask('How high is it?', '55', 1), metadata: { documents } }];
  const played = await play({
    recipe: 'cleaner',
    tasks: 1,
    groupSize: 1,
    positions: 4096,
    given: { sources: [{ weight: 1, tasks }] },
    says: (_, prompt) => {
      if (prompt.includes('<search>tower south mill</search>')) return ['<answer>55</answer>'];
      if (prompt.includes('<search>tower south</search>'))
        return ['Better so. <search>tower south mill</search>'];
      return prompt.includes('Found:')
        ? ['I go on. <search>tower south</search>']
        : ['<search>south tower</search>'];
    },
  });
  const items = itemsOf(played);
  // The second search finds both towers again, and shares two of three words with the third, which finds the mill.
  expect(items.map(({ sample }) => played.read(sample))).toEqual([
    '<search>south tower</search>',
    'I go on. <search>tower south mill</search>',
    '<answer>55</answer>',
  ]);
  // It is asked for after the first search alone, as it was; the answer comes after these two.
  expect(played.read({ ids: items[2]!.sample.prompt })).not.toContain('<search>tower south</search>');
  expect(played.read({ ids: items[2]!.sample.prompt })).toContain('<search>tower south mill</search>');
});

test('variants: episodes as they are, none of the cleaned ones, or another search taken out', async () => {
  expect(itemsOf(await searched('spire', 'grpo'))).toHaveLength(4);
  const dropped = await searched('spire', 'drop-failed');
  expect(itemsOf(dropped).map(({ sample }) => dropped.read(sample))).toEqual(['<answer>40</answer>']);
  const spliced = itemsOf(await searched('spire', 'random-splice'));
  expect(spliced).toHaveLength(3);
});
