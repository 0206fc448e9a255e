import { expect, test } from 'vitest';
import type { LearnTools, PolicyPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import {
  assignments,
  dealtAnew,
  gradientsOf,
  selfNormalised,
  type TokenGradient,
  topHalf,
  weightsOf,
} from '../../recipes/delta/token-weights.ts';
import { shipped } from '../../recipes/index.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { play as playQuestions } from './play-questions.ts';

const delta = shipped.find('delta');

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 6));
/** Tokens on a line: [place, advantage]. */
const onLine = (...tokens: readonly (readonly [number, number])[]): TokenGradient[] =>
  tokens.map(([place, advantage]) => ({ state: Float32Array.of(place), scale: 1, advantage }));

test('a token’s gradient is its state, times the share of probability that it does not have', () => {
  const [first, second] = gradientsOf(Float32Array.of(1, 2, 3, 4), [Math.log(0.25), 0], -2);
  expect(first).toEqual({ state: Float32Array.of(1, 2), scale: expect.closeTo(0.75), advantage: -2 });
  expect(second).toEqual({ state: Float32Array.of(3, 4), scale: 0, advantage: -2 });
});

test('what is nearer to its own side’s centroid counts more, what lies between the sides as much as before', () => {
  // Centroids 1 and -1. Margins of the first side: (2+1)² - (2-1)² = 8, and 1 - 1 = 0; their deviation is 4. α: σ(2) = 0.881 and 1/2.
  // Once more: the centroids are ±m with m = 2σ(2) / (σ(2) + 1/2) = 1.276, and the margins 8m and 0.
  const m = (2 * sigmoid(2)) / (sigmoid(2) + 0.5);
  expect(m).toBeCloseTo(1.276, 3);
  const tokens = onLine([2, 1], [0, 1], [0, -1], [-2, -1]);
  expect(assignments(tokens)).toEqual(near([sigmoid(2 * m), 0.5, 0.5, sigmoid(2 * m)]));
  expect(assignments([])).toEqual([]);
});

test('centroids are weighted by the size of advantages, and a token without one belongs to neither side', () => {
  // The first side's centroid: (3·4 + 1·0)/4 = 3; the other's: -1. Margins (4+1)² - (4-3)² = 24 and 1 - 9 = -8: mean 8, deviation 16.
  // Once more: μ = 12a/(3a + b), with a = σ(1.5) and b = σ(-0.5); the other side has one token, and its centroid stays.
  const [a, b] = [sigmoid(1.5), sigmoid(-0.5)];
  const mu = (12 * a) / (3 * a + b);
  const half = { state: Float32Array.of(8), scale: 0.5, advantage: 3 };
  const alphas = assignments([half, ...onLine([0, 1], [-1, -2], [9, 0])]);
  const wanted = [(25 - (4 - mu) ** 2) / 16, (1 - mu ** 2) / 16].map(sigmoid);
  expect(alphas.slice(0, 2)).toEqual(near(wanted));
  expect(alphas[3]).toBe(0.5);
  expect(weightsOf(onLine([4, 3], [9, 0]), [1, 1])).toEqual(near([1.2, 0.8]));
});

test('by the own centroid alone: how much nearer a token is than others of its side', () => {
  // Centroid 1, distances 4, 1 and 1, mean 2. Margins -2, 1 and 1, whose deviation is √2.
  const [far, close] = [sigmoid(-Math.SQRT2), sigmoid(Math.SQRT1_2)];
  const mu = (3 * far) / (far + 2 * close);
  const typical = ((3 - mu) ** 2 + 2 * mu ** 2) / 3;
  const wanted = [typical - (3 - mu) ** 2, typical - mu ** 2, typical - mu ** 2];
  expect(assignments(onLine([3, 1], [0, 1], [0, 1], [50, -1]), 'own').slice(0, 3)).toEqual(
    near(wanted.map((margin) => sigmoid(margin / Math.SQRT2))),
  );
});

test('weights are divided by their mean; the half that weighs most, of tokens with an advantage', () => {
  expect(selfNormalised([0.8, 0.8, 1.2, 1.2])).toEqual(near([0.8, 0.8, 1.2, 1.2]));
  expect(selfNormalised([0.8, 1.0])).toEqual(near([8 / 9, 10 / 9]));
  expect(topHalf(onLine([0, 1], [0, -1], [0, 0], [0, 1]), [0.9, 1.1, 1.2, 0.9])).toEqual([1, 1, 0, 0]);
});

test('weights that are dealt anew stay among the tokens with an advantage, whose sum they keep', () => {
  const tokens = onLine(...Array.from({ length: 9 }, (_, t): [number, number] => [t, (t % 3) - 1]));
  const weights = tokens.map(({ advantage }, t) => (advantage ? 1 + t / 100 : 0.8));
  const dealt = dealtAnew(tokens, weights, new Random('deal'));
  const sided = (values: readonly number[]) => values.filter((_, t) => tokens[t]!.advantage);
  expect(dealt.filter((_, t) => !tokens[t]!.advantage)).toEqual([0.8, 0.8, 0.8]);
  expect([...sided(dealt)].sort()).toEqual(sided(weights));
  expect(sided(dealt)).not.toEqual(sided(weights));
});

const taskOf = (prompt: string) => prompt.slice('<solve>'.length, prompt.indexOf('<sep>'));
/** Two answers a task, a right one and one that ends in another digit. */
const write = (prompt: string, i: number) => {
  const right = String(runningTotals(taskOf(prompt)).at(-1)!);
  const wrong = right.slice(0, -1) + ((Number(right.at(-1)) + 1) % 10);
  return `<answer>${i ? wrong : right}<eos>`;
};
const score: LearnTools['score'] = async (_set, sequences) =>
  sequences.map(({ ids }) => Float32Array.from(ids, () => Math.log(0.5)));
/** The first token of each answer lies at 0, the others of a right one at 1 and of a wrong one at -1. */
const states: LearnTools['states'] = async (_set, sequences) =>
  sequences.map(({ ids }, s) => Float32Array.from(ids, (_, t) => (t === 0 ? 0 : s % 2 ? -1 : 1)));
const play = async (more: WriteOptions = {}) => {
  const { plan } = await playWritten(delta, write, {
    tasks: 1,
    groupSize: 2,
    tools: { score, states },
    ...more,
  });
  return { plan, items: (plan.updates[0]!.parts[0] as PolicyPart).items };
};
/** Rewards 1 and 0: mean 1/2, sample deviation 1/√2. */
const A = Math.SQRT1_2;

test('a round: tokens that both answers begin with weigh less, and the weights’ mean is 1', async () => {
  const { plan, items } = await play();
  const n = items[0]!.sample.ids.length;
  // Places 0 once and ±1/2 n - 1 times: centroids ±c with c = (n-1)/2n, margins 0 and 2c, whose deviation is 2c·√(n-1)/n.
  const c = (n - 1) / (2 * n);
  const gamma = (2 * c * Math.sqrt(n - 1)) / n;
  const alpha = sigmoid((2 * c) / gamma);
  const again = (0.5 * (n - 1) * alpha) / ((n - 1) * alpha + 0.5);
  const [shared, apart] = [1, 0.8 + 0.4 * sigmoid((2 * again) / gamma)];
  const centre = (shared + (n - 1) * apart) / n;
  const weights = [shared, ...Array<number>(n - 1).fill(apart)].map((weight) => weight / centre);
  expect(items.map(({ advantage }) => advantage)).toEqual(
    [A, -A].map((a) => weights.map((weight) => expect.closeTo(a * weight, 5))),
  );
  expect(items.every(({ credit }) => credit === undefined)).toBe(true);
  // All tokens but the last digit and the end are shared.
  expect(plan.figures).toEqual({
    weightShared: expect.closeTo((shared + (n - 3) * apart) / (n - 2), 5),
    weightApart: expect.closeTo(apart, 5),
  });
});

test('variants: no weights, the halves, and the same weights elsewhere', async () => {
  const plain = await play({ variant: 'dapo', tools: {} });
  expect(plain.items.map(({ advantage }) => advantage)).toEqual([A, -A].map((a) => expect.closeTo(a, 5)));
  expect(plain.plan.figures).toBeUndefined();
  // Of 2n tokens the first n that weigh most: those of the right answer but its first, and the second of the other.
  const [top, bottom] = [await play({ variant: 'top-half' }), await play({ variant: 'bottom-half' })];
  for (const [{ items }, one] of [
    [top, 1],
    [bottom, 0],
  ] as const) {
    const n = items[0]!.sample.ids.length;
    expect(items.map(({ mask }) => mask)).toEqual([
      [1 - one, ...Array(n - 1).fill(one)],
      [1 - one, one, ...Array(n - 2).fill(1 - one)],
    ]);
    expect(items.map(({ advantage }) => advantage)).toEqual([A, -A].map((a) => expect.closeTo(a, 5)));
  }
  // Three tasks have six first tokens, which alone weigh 0.8 + 0.4/2 = 1 before all are divided by their mean.
  const dealt = (await play({ variant: 'shuffled', tasks: 3 })).items.map(({ advantage }) =>
    (advantage as readonly number[]).map((a) => Math.abs(a) / A),
  );
  const least = Math.min(...dealt.flat());
  const isLeast = (weight: number) => weight < least + 1e-6;
  expect(dealt.flat().filter(isLeast)).toHaveLength(6);
  expect(dealt.flat().reduce((sum, weight) => sum + weight, 0) / dealt.flat().length).toBeCloseTo(1, 5);
  expect(dealt.every(([first]) => isLeast(first!))).toBe(false);
});

test('on questions of files, too', async () => {
  const { plan } = await playQuestions({
    recipe: 'delta',
    tasks: 2,
    groupSize: 2,
    says: (_, prompt) => [/Say (\w+)/.exec(prompt)![1]!, 'x'],
    tools: { states },
  });
  const [part] = plan.updates[0]!.parts as [PolicyPart];
  const sizes = part.items.flatMap(({ advantage }) => (advantage as readonly number[]).map(Math.abs));
  expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeCloseTo(A, 5);
  expect(new Set(sizes.map((size) => size.toFixed(6))).size).toBeGreaterThan(1);
});
