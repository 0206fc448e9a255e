/** What may be said of a change: against McNemar's test, against all choices of signs written out, and of few and many questions. */
import { expect, test } from 'vitest';
import { Random } from '../../../core/random.ts';
import { type Evaluation, evaluation, type Tallies, type Tally } from '../../../core/schema/evaluation.ts';
import {
  changeOf,
  changesOf,
  FEWEST_QUESTIONS,
  fewWords,
  pWords,
  shareOf,
  sinceBest,
  tallyOf,
  tallyOfDraws,
  tallyOfShares,
} from '../../../core/statistics/change.ts';
import { mcNemar } from '../../../core/statistics/paired.ts';
import { signFlipTest } from '../../../core/statistics/sign-flip.ts';

const tally = (points: string, of = 1): Tally => ({ of, points });
/** Of n questions, the first k right. */
const first = (k: number, n: number) => tally('1'.repeat(k) + '0'.repeat(n - k));
const evaluated = (accuracy: number, tallies: Tallies): Evaluation =>
  evaluation({ n: 40, accuracy, tallies });

test('of right and wrong answers the test of signs is McNemar’s exact test', () => {
  const random = new Random('sign-flip');
  for (let trial = 0; trial < 200; trial++) {
    const n = 1 + random.int(80);
    const [before, after] = [0.3, 0.5].map((p) => Array.from({ length: n }, () => random.bool(p)));
    const differences = before!.map((right, i) => Number(after![i]) - Number(right));
    expect(signFlipTest(differences)).toBeCloseTo(mcNemar(before!, after!).p, 10);
  }
});

test('of points it counts all choices of signs', () => {
  const random = new Random('sign-flip/points');
  for (let trial = 0; trial < 50; trial++) {
    const differences = Array.from({ length: 1 + random.int(10) }, () => random.int(11) - 5);
    const seen = Math.abs(differences.reduce((a, b) => a + b, 0));
    let far = 0;
    for (let signs = 0; signs < 2 ** differences.length; signs++) {
      const sum = differences.reduce((total, d, i) => total + (signs & (1 << i) ? d : -d), 0);
      if (Math.abs(sum) >= seen) far++;
    }
    expect(signFlipTest(differences)).toBeCloseTo(far / 2 ** differences.length, 10);
  }
  expect(signFlipTest([])).toBe(1);
  expect(() => signFlipTest([0.5])).toThrow(/whole number/);
});

test('under no difference at most one change in twenty is called one, whatever the points', () => {
  const random = new Random('sign-flip/null');
  let called = 0;
  const trials = 1000;
  for (let trial = 0; trial < trials; trial++) {
    const [a, b] = [0, 1].map(() =>
      tallyOf(
        Array.from({ length: 40 }, () => random.int(4)),
        3,
      ),
    );
    if (['rose', 'fell'].includes(changeOf(a, b).verdict)) called++;
  }
  // Five standard errors above 5 %.
  expect(called / trials).toBeLessThan(0.05 + 5 * Math.sqrt((0.05 * 0.95) / trials));
});

test('below thirty questions nothing rises or falls, from thirty on the test decides', () => {
  for (const n of [1, 3, 10, FEWEST_QUESTIONS - 1])
    expect(changeOf(first(0, n), first(n, n)).verdict, String(n)).toBe('few');
  expect(changeOf(first(0, 30), first(30, 30)).verdict).toBe('rose');
  expect(changeOf(first(30, 30), first(0, 30)).verdict).toBe('fell');
  // 5 of 5 discordant pairs: p = 2/32; 6 of 6: p = 2/64.
  expect(changeOf(first(0, 500), first(5, 500))).toEqual({ verdict: 'chance', p: 0.0625 });
  expect(changeOf(first(0, 500), first(6, 500))).toEqual({ verdict: 'rose', p: 0.03125 });
  expect(changeOf(first(7, 500), first(7, 500))).toEqual({ verdict: 'chance', p: 1 });
});

test('what has no points of its questions is not tested, nor are other questions', () => {
  const untested = { verdict: 'untested', p: null };
  expect(changeOf(undefined, first(1, 40))).toEqual(untested);
  expect(changeOf(first(1, 40), first(1, 41))).toEqual(untested);
  expect(changeOf(tally('2'.repeat(40), 3), tally('2'.repeat(40), 4))).toEqual(untested);
  expect(
    changesOf(
      evaluated(1 / 40, { accuracy: first(1, 40) }),
      evaluated(1, { accuracy: first(40, 40), judge: first(1, 40) }),
    ),
  ).toEqual({
    accuracy: { verdict: 'rose', p: expect.any(Number) },
    judge: untested,
  });
});

test('where a figure moves against the points of its questions, nothing is said of it', () => {
  const [low, high] = [{ accuracy: first(1, 40) }, { accuracy: first(40, 40) }];
  const verdict = (before: Evaluation, after: Evaluation) => changesOf(before, after).accuracy;
  expect(verdict(evaluated(0.5, low), evaluated(0.4, high))).toEqual({ verdict: 'untested', p: null });
  expect(verdict(evaluated(0.5, low), evaluated(0.5, high))).toEqual({ verdict: 'untested', p: null });
  expect(verdict(evaluated(0.5, high), evaluated(0.6, low))).toEqual({ verdict: 'untested', p: null });
  expect(verdict(evaluated(0.5, high), evaluated(0.4, low))).toMatchObject({ verdict: 'fell' });
});

test('the best of several versions is picked, which the test is told', () => {
  const versions = [first(0, 40), first(6, 40), first(0, 40)].map((accuracy) => ({ accuracy }));
  // Alone 6 of 6 would be p = 0.031; of two looks it is 0.0625.
  expect(sinceBest(versions, 'accuracy')).toEqual({ verdict: 'chance', p: 0.0625 });
  expect(sinceBest([{ accuracy: first(20, 40) }, {}, { accuracy: first(0, 40) }], 'accuracy')?.verdict).toBe(
    'fell',
  );
  expect(sinceBest([{ accuracy: first(20, 40) }], 'accuracy')).toBeUndefined();
});

test('a tally keeps points and the mean of several draws', () => {
  expect(tallyOf([true, false, true])).toEqual(tally('101'));
  expect(tallyOf([0, 35, 10], 35)).toEqual(tally('0za', 35));
  expect(tallyOfShares([0, 0.2, 1 / 3, 1])).toEqual(tally('07cz', 35));
  // The third question is right twice of two, the second never.
  expect(tallyOfDraws([1, 0, 1, 1, 0, 1], 3)).toEqual(tally('202', 2));
  expect(shareOf(tally('0za', 35))).toBeCloseTo(45 / 105);
  expect(shareOf(tally(''))).toBe(0);
});

test('probabilities and small numbers in words', () => {
  expect([0.0004, 0.031, 1].map(pWords)).toEqual(['p < 0.001', 'p = 0.031', 'p = 1.000']);
  expect(fewWords(1)).toContain('1 held-out question is too few');
  expect(fewWords(3)).toBe('3 held-out questions are too few to tell a change from chance (30 are needed)');
});
