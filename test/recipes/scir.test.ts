import { expect, test } from 'vitest';
import type { LearnTools, PreferencePart, Sequence } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { implicitMargins, judgedPairs, rightShare } from '../../recipes/scir/pairs.ts';
import { recordsOf, solved, tokenizer } from './records.ts';

const scir = shipped.find('scir');

/** How many nats likelier the policy finds each token of a response than the start did. */
const MOVED: Readonly<Record<string, number>> = { 'ana bel': 0.2, 'ana ana': 0.1, bel: -0.3, dim: 0.4 };
const score = async (_set: string, sequences: readonly Sequence[], version?: number) =>
  sequences.map(({ ids }) => {
    const response = tokenizer.decode(ids).replace(/<\w+>/g, '');
    return new Float32Array(ids.length).fill(-1 + (version === 0 ? 0 : MOVED[response]!));
  });
const tools = { decode: tokenizer.decode, encode: tokenizer.encode, score } as unknown as LearnTools;

const TASK = 'az 2-4:tok bel ana dim';
const pair = (chosen: string, rejected: string) => ({
  task: TASK,
  samples: [solved(`<answer>${rejected}<eos>`, 0.4), solved(`<answer>${chosen}<eos>`, 0.8)],
});
/**
 * Rubric: `ana bel` has 5 points, `ana ana` 4 (a word twice), `bel` and `dim` 3 (one word is neither an order nor long enough).
 * Implicit rewards in units of β: 9 tokens × 0.2 = 1.8, 9 × 0.1 = 0.9, 5 × −0.3 = −1.5, 5 × 0.4 = 2.
 */
const GROUPS = [
  pair('ana bel', 'ana ana'), // 1.8 − 0.9 = 0.9: consistent, and right by the rubric
  pair('bel', 'ana bel'), // −1.5 − 1.8 = −3.3: not consistent, and wrong
  pair('dim', 'ana ana'), // 2 − 0.9 = 1.1: consistent, and wrong
  pair('dim', 'bel'), // 2 + 1.5 = 3.5: consistent; the points are equal
  { task: TASK, samples: [solved('<answer>dim<eos>', 0.6), solved('<answer>bel<eos>', 0.6)] }, // no pair
];

const learn = (settings: object = {}, index = 5) => {
  const records = recordsOf('scir', GROUPS, settings);
  return scir.learn({ ...records, round: { ...records.round, index }, version: index - 1 }, tools);
};
const trained = async (settings?: object, index?: number) => {
  const { updates, figures } = await learn(settings, index);
  const part = updates[0]!.parts[0] as PreferencePart;
  expect([part.objective, part.reference]).toEqual([
    { kind: 'dpo', beta: 0.1 },
    { set: 'main', version: 0 },
  ]);
  const text = ({ ids }: Sequence) => tokenizer.decode(ids).replace(/<\w+>/g, '');
  return { pairs: part.pairs.map(({ chosen, rejected }) => `${text(chosen)} > ${text(rejected)}`), figures };
};

test('implicit rewards are sums of log-ratios to the start', async () => {
  const pairs = judgedPairs(recordsOf('scir', GROUPS).groups);
  expect(pairs).toHaveLength(4);
  const margins = await implicitMargins(pairs, tools);
  expect(margins).toEqual([0.9, -3.3, 1.1, 3.5].map((margin) => expect.closeTo(margin, 5)));
});

test('a preference is right where it has the sign of the points; equal points tell nothing', () => {
  expect(rightShare([1, 1, -2, 0.5], [2, -1, -1, 0])).toBeCloseTo(2 / 3);
  expect(rightShare([1], [0])).toBeUndefined();
});

test('pairs are trained on which the implicit reward agrees with the judge', async () => {
  const { pairs, figures } = await trained();
  expect(pairs).toEqual(['ana bel > ana ana', 'dim > ana ana', 'dim > bel']);
  // Of three pairs with unequal points the judge orders one right; the implicit reward two, the first and the second.
  expect(figures).toEqual({
    pairs: 3,
    consistent: 0.75,
    trainedRight: 0.5,
    judgeRight: expect.closeTo(1 / 3),
    implicitRight: expect.closeTo(2 / 3),
    // Shares of five points: 5 + 4, 3 + 5, 3 + 4, 3 + 3, 3 + 3 of ten responses.
    points: expect.closeTo(36 / 50),
  });
});

test('plain: all pairs; random: as many as agree', async () => {
  const all = ['ana bel > ana ana', 'bel > ana bel', 'dim > ana ana', 'dim > bel'];
  expect((await trained({ variant: 'plain' })).pairs).toEqual(all);
  const drawn = await trained({ variant: 'random-pairs' });
  expect(drawn.pairs).toHaveLength(3);
  expect(all).toEqual(expect.arrayContaining(drawn.pairs));
});

test('four rounds train all pairs; in the first there is no implicit reward to report', async () => {
  const first = await trained({}, 1);
  expect(first.pairs).toHaveLength(4);
  expect(first.figures).not.toHaveProperty('consistent');
  expect(first.figures).not.toHaveProperty('implicitRight');
  const fourth = await trained({}, 4);
  expect(fourth.pairs).toHaveLength(4);
  expect(fourth.figures!.consistent).toBe(0.75);
});

test('a policy is paid by the scores that it writes itself that can be read, and nothing for what is no response', async () => {
  const { groups } = await playWritten(
    scir,
    (prompt, i) =>
      prompt.startsWith('<judge>') ? ['4<eos>', 'x<eos>', '5<eos>'][i]! : ['<answer>zzz<eos>', 'x<eos>'][i]!,
    {
      tasks: 1,
      groupSize: 2,
      tools: { score: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length)) },
    },
  );
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([0.9, 0]);
  expect(groups[0]!.judgments.map(({ role }) => role)).toEqual(['judge', 'judge', 'judge']);
});
