import { expect, test } from 'vitest';
import type { LearnTools, PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { bandBetween, forkMask, quantile } from '../../recipes/spine/forks.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';

const spine = shipped.find('spine');

test('forks are the fifth of the tokens with the highest entropies, at least one, the earlier of equal ones', () => {
  expect(forkMask([0.1, 0.9, 0.2], 0.2)).toEqual([0, 1, 0]);
  // A fifth of six is 1.2: two tokens.
  expect(forkMask([0.1, 0.3, 0.2, 0.3, 0, 0.3], 0.2)).toEqual([0, 1, 0, 1, 0, 0]);
  expect(forkMask([0, 0, 0, 0, 0], 0.2)).toEqual([1, 0, 0, 0, 0]);
  expect(forkMask([], 0.2)).toEqual([]);
});

test('quantiles lie between neighbours in proportion', () => {
  // Sorted 1, 2, 4, 8: the tenth is at place 0.3, the half at place 1.5.
  expect(quantile([4, 1, 8, 2], 0.1)).toBeCloseTo(1.3);
  expect(bandBetween([4, 1, 8, 2], 0.1, 0.5)).toEqual({ low: expect.closeTo(1.3), high: 3 });
  expect(bandBetween([7], 0.1, 0.5)).toEqual({ low: 7, high: 7 });
});

const total = (prompt: string) => runningTotals(prompt.slice('<solve>'.length, -'<sep>'.length)).at(-1)!;
/** Of four answers two say 77, one is right and one cannot be read. */
const write = (prompt: string, i: number) =>
  ['<answer>77<eos>', `<answer>${total(prompt)}<eos>`, '<answer>77<eos>', 'x<eos>'][i]!;

/** The first token of the i-th sequence has entropy 1 + i mod 4, the others have 1/2. */
const entropies: LearnTools['entropies'] = async (_set, sequences) =>
  sequences.map(({ ids }, i) => Float32Array.from(ids, (_, t) => (t ? 0.5 : 1 + (i % 4))));
const play = async (more: WriteOptions = {}) => {
  const { plan, groups } = await playWritten(spine, write, {
    tasks: 2,
    groupSize: 4,
    tools: { entropies },
    ...more,
  });
  return { plan, groups, part: plan.updates[0]!.parts[0] as PolicyPart };
};

test('the majority is paid, and forks alone are trained with the band of their group', async () => {
  const { plan, groups, part } = await play();
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, 1, 0]);
  expect(plan.updates[0]!.epochs).toBe(4);
  expect(part.entropyBand).toBe(0.1);
  expect(part.items).toHaveLength(8);
  // 1, 0, 1, 0: mean 1/2, deviation 1/√3.
  expect(part.items.slice(0, 4).map(({ advantage }) => advantage)).toEqual(
    [1, -1, 1, -1].map((sign) => expect.closeTo((sign * Math.sqrt(3)) / 2, 4)),
  );
  for (const { sample, mask, band } of part.items) {
    // Answers have at most five tokens, of which one is a fork: the first.
    expect(mask).toEqual(sample.ids.map((_, t) => Number(t === 0)));
    // Of 1, 2, 3, 4: places 0.3 and 1.5.
    expect(band).toEqual({ low: expect.closeTo(1.3), high: expect.closeTo(2.5) });
  }
  expect(plan.figures).toEqual({
    labelAccuracy: 0,
    rewardAccuracy: 1 / 4,
    majorityShare: 1 / 2,
    forkEntropy: 2.5,
    otherEntropy: 0.5,
  });
});

test('without the band, and as TTRL', async () => {
  const none = (await play({ variant: 'no-band' })).part;
  expect(none.entropyBand).toBeUndefined();
  expect(none.items.map(({ band }) => band)).toEqual(Array(8).fill(undefined));
  expect(none.items[0]!.mask).toEqual((await play()).part.items[0]!.mask);
  const all = (await play({ variant: 'all-tokens' })).part;
  expect(all.entropyBand).toBeUndefined();
  for (const item of all.items) expect(Object.keys(item).sort()).toEqual(['advantage', 'credit', 'sample']);
});

test('random fifth: as many tokens of each answer, drawn anew for each, the same ones each time', async () => {
  const drawn = (await play({ variant: 'random-fifth' })).part;
  const again = (await play({ variant: 'random-fifth' })).part;
  expect(again.items).toEqual(drawn.items);
  expect(drawn.entropyBand).toBe(0.1);
  for (const { mask } of drawn.items) expect(mask!.filter((m) => m === 1)).toHaveLength(1);
  expect(drawn.items.some(({ mask }) => mask![0] === 0)).toBe(true);
});
