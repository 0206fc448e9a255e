import { expect, test } from 'vitest';
import { lessonOf } from '../../core/lesson.ts';
import { areaUnderRoc } from '../../core/rl/area-under-roc.ts';
import type { LearnTools, OutcomePart, PolicyPart } from '../../core/training.ts';
import { prime, weighAnswers } from '../../recipes/prime.ts';
import { expectRows, recordsOf, solved, tokenizer } from './records.ts';

test('AUC counts the pairs in order, ties as half', () => {
  // (3,1) (3,2) (2,1) in order, (2,2) tied: 3.5 of 4
  expect(areaUnderRoc([3, 1, 2, 2], [true, false, true, false])).toBeCloseTo(0.875);
  expect(areaUnderRoc([1, 2], [true, true])).toBe(0.5);
});

const right = { ...solved('', 1), ids: [1, 2] };
const wrong = { ...solved('', 0), ids: [3, 4] };

test('outcome and process credit, mixed and whitened over the tokens', () => {
  // q [1 0], [0 0]: the largest return is 1. Means .5 and 0, centre .25, twice what is left: [1.5 -.5], [-.5 -.5], to go [1 -.5],
  // [-1 -.5]. Outcomes ±1. Sums [6 -1.5], [-6 -3.5]: mean -1.25, variance 26.75.
  const { groups } = recordsOf('prime', [{ samples: [right, wrong] }]);
  const flat = (variant?: string) =>
    weighAnswers(
      groups,
      [
        [1, 0],
        [0, 0],
      ],
      variant,
    ).flatMap(({ advantage }) => advantage as number[]);
  expectRows([flat()], [[1.401768, -0.048337, -0.9184, -0.435031]]);
  // Outcomes alone: 1 1 -1 -1, deviation 1.154701
  expectRows([flat('outcome')], [[0.866025, 0.866025, -0.866025, -0.866025]]);
});

const answers = [
  solved('<step>3<answer>3<eos>', 1),
  solved('<step>4<answer>4<eos>', 0),
  solved('<step>3<answer>3<eos>', 1),
  solved('<step>3<answer>3<eos>', 1),
];
const groups = [{ samples: answers.slice(0, 2) }, { samples: answers.slice(2) }];
/** ψ finds every token a nat likelier than the start does where it is a 3, and as likely elsewhere. */
const three = tokenizer.encode('3')[0]!;
const tools = {
  encode: tokenizer.encode,
  decode: tokenizer.decode,
  score: (_set: string, sequences: readonly { ids: readonly number[] }[], version?: number) =>
    Promise.resolve(
      sequences.map(({ ids }) => Float32Array.from(ids, (id) => (version === 0 || id !== three ? -2 : -1))),
    ),
} as unknown as LearnTools;

test('both learn from the band alone; the reward model against version 0; its AUC is of all answers', async () => {
  const { updates, figures } = await lessonOf(prime, recordsOf('prime', groups, { index: 5 }), tools);
  expect(updates.map(({ set }) => set)).toEqual(['prm', 'main']);
  const [outcome, policy] = updates.map(({ parts }) => parts[0]) as [OutcomePart, PolicyPart];
  expect(outcome.items.map((item) => item.outcome)).toEqual([1, 0]);
  expect(outcome.reference).toEqual({ set: 'prm', version: 0 });
  expect(policy.items.map(({ sample }) => sample.id)).toEqual(answers.slice(0, 2).map(({ id }) => id));
  // Σ q is 2 for each right answer and 0 for the wrong one; the right step has 1, the wrong one 0.
  expect(figures).toMatchObject({ kept: 1, solved: 0.75, auc: 1, stepAuc: 1 });
});

test('variants: frozen learns for four rounds, outcome never', async () => {
  const sets = async (variant: string, index: number) =>
    (await lessonOf(prime, recordsOf('prime', groups, { index, variant }), tools)).updates.map(
      ({ set }) => set,
    );
  expect(await sets('frozen', 4)).toEqual(['prm', 'main']);
  expect(await sets('frozen', 5)).toEqual(['main']);
  expect(await sets('outcome', 1)).toEqual(['main']);
});
