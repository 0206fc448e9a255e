import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, PolicyItem } from '../../core/plan/training-plan.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { readVerified, stepOfToken, stepReader, stepRewards } from '../../protocols/step-credit.ts';
import {
  alphaOf,
  solutionsWithAdvantages,
  tango,
  turnOf,
  verdictReward,
} from '../../recipes/tango/recipe.ts';
import { classWeightedVerdicts } from '../../recipes/tango/verdict-credit.ts';
import { chains } from '../../worlds/chains/family.ts';
import { expectRows, recordsOf, solved, tokenizer, verdict } from './records.ts';

const tools = { encode: tokenizer.encode, decode: tokenizer.decode } as LearnTools;
const advantagesOf = (items: readonly PolicyItem[]) => items.map(({ advantage }) => advantage);

test('the verifier alone for twelve rounds, then three updates of the generator to one of the verifier', () => {
  expect([1, 12, 13, 14, 15, 16, 17, 20].map(turnOf)).toEqual([
    { phase: 'verifier', before: 0 },
    { phase: 'verifier', before: 11 },
    { phase: 'generator', before: 0 },
    { phase: 'generator', before: 1 },
    { phase: 'generator', before: 2 },
    { phase: 'verifier', before: 12 },
    { phase: 'generator', before: 3 },
    { phase: 'verifier', before: 13 },
  ]);
});

test('α falls from .1 to .001 along its geometric mean', () => {
  expect(alphaOf(undefined, 0)).toBeCloseTo(0.1);
  expect(alphaOf(undefined, 24)).toBeCloseTo(0.01);
  expect(alphaOf(undefined, 48)).toBeCloseTo(0.001);
  expect([alphaOf('outcome', 3), alphaOf('constant', 3)]).toEqual([0, 0.5]);
});

test('step rewards are ±1/K; an unreadable verdict takes all of them away', () => {
  const stepsExact = [true, true];
  expect(stepRewards({ stepsExact, verdict: ok({ steps: [true, false], right: false }) })).toEqual([
    0.5, -0.5,
  ]);
  expect(stepRewards({ stepsExact, verdict: invalid('verdict-count') })).toEqual([0, 0]);
  expect(stepRewards({ stepsExact, verdict: undefined })).toEqual([0, 0]);
});

test('a step is its tag and its digits; the answer is in none', () => {
  const ids = tokenizer.encode('<step>3<step>-12<answer>-12<eos>');
  const [opens, closes] = tokenizer.encode('<step><answer>') as [number, number];
  expect(stepOfToken(ids, opens, closes)).toEqual([0, 0, 1, 1, 1, 1, -1, -1, -1, -1, -1]);
});

const good = solved('<step>3<step>0<answer>0<eos>', 1);
const bad = solved('<step>3<step>1<answer>1<eos>', 0);
const group = {
  task: '1+2-3',
  samples: [good, bad],
  judgments: [
    verdict(good, '<step>3=<step>0=<right><eos>', 1),
    verdict(bad, '<step>3=<step>0!1<wrong><eos>', 1),
  ],
};

test('outcome and step streams are standardised apart and mixed on each token', () => {
  // Steps .5 .5 | .5 -.5: mean .25, σ₀ .433013 -> .57735 .57735 | .57735 -1.732051, to go 1.154701 .57735 | -1.154701 -1.732051.
  // Outcomes 1 | 0: ±.707106. Half of each.
  const verified = readVerified(chains, recordsOf('tango', [group]).groups, tools);
  const rows = advantagesOf(
    solutionsWithAdvantages(verified, 0.5, stepReader(chains, tools.encode)),
  ) as number[][];
  expectRows(rows, [
    [0.930904, 0.930904, 0.642228, 0.642228, 0.353553, 0.353553, 0.353553],
    [-0.930904, -0.930904, -1.219579, -1.219579, -0.353553, -0.353553, -0.353553],
  ]);
});

test('a solution that cannot be read has no steps, whatever its tags', () => {
  const torn = solved('<step>3<step><eos>', 0);
  const { groups } = recordsOf('tango', [
    { ...group, samples: [good, torn], judgments: group.judgments.slice(0, 1) },
  ]);
  const items = solutionsWithAdvantages(
    readVerified(chains, groups, tools),
    1,
    stepReader(chains, tools.encode),
  );
  // Both steps of the other are alike: nothing to tell apart.
  expectRows(advantagesOf(items) as number[][], [new Array(7).fill(0), new Array(4).fill(0)]);
});

test('verdicts are weighted by the running counts of their class, and format is paid beside agreement', () => {
  // Counts .8·8 + .2·2 = 6.8 right, .8·2 + .2·2 = 2 wrong; 1/√: .383482, .707107, mean .545294 -> weights .703257, 1.296743.
  // On the right solution 1.8 against .16 (wrong number of marks), on the wrong one 1.8 against .8: ±.707106 each.
  const judgments = [
    verdict(good, '', 1),
    verdict(good, '', 0, 'verdict-count'),
    verdict(bad, '', 1),
    verdict(bad, '', 0),
  ];
  const { groups } = recordsOf('tango', [{ ...group, judgments }]);
  const { items, counts } = classWeightedVerdicts(
    groups,
    [
      ['right', 8],
      ['wrong', 2],
    ],
    verdictReward,
  );
  expect(new Map(counts).get('right')).toBeCloseTo(6.8);
  expect(new Map(counts).get('wrong')).toBeCloseTo(2);
  expectRows([advantagesOf(items) as number[]], [[0.497277, -0.497277, 0.916935, -0.916935]]);
});

test('a round trains one of the two; the counts are remembered; a frozen verifier’s round trains nobody', async () => {
  const setOf = async (index: number, change: object = {}) =>
    (await planTraining(tango, recordsOf('tango', [group], { index, ...change }), tools)).updates.map(
      ({ set }) => set,
    );
  expect(await setOf(1)).toEqual(['verifier']);
  expect(await setOf(13)).toEqual(['main']);
  expect(await setOf(16, { freeze: ['judge'] })).toEqual([]);
  expect(await setOf(16, { variant: 'outcome' })).toEqual([]);
  const plan = await planTraining(
    tango,
    recordsOf('tango', [group], {
      index: 1,
      recipeState: [
        ['right', 6],
        ['wrong', 1],
      ],
    }),
    tools,
  );
  // .8·6 + .2·1 = 5; .8·1 + .2·1 = 1
  expectRows([(plan.recipeState as [string, number][]).map(([, count]) => count)], [[5, 1]]);
});
