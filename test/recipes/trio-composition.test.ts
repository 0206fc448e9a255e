/** What trio pays and trains on compositions, worked by hand. */
import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { learn, payProposals } from '../../recipes/trio/composition/learn.ts';
import { nextRule, ruleOf } from '../../recipes/trio/composition/propose.ts';
import { recordsOf, solved, tokenizer, verdict } from './records.ts';

/** A solver's sample that passed or not. */
const answered = (passes: number): Sample => ({
  ...solved('Answer: abcd', passes),
  rewards: { reward: passes, passed: passes },
});
const groupOf = (
  task: string,
  passes: readonly number[],
  proposal: string | null = null,
): Partial<ScoredGroup> => ({
  task,
  proposal,
  samples: passes.map(answered),
});
const written = (text: string, outcome: Outcome = 'ok'): Sample => ({
  ...solved(text, 0),
  role: 'proposer',
  outcome,
  rewards: {},
});

test('a proposal is paid at the frontier, less for calls that others made, and nothing is taken for what cannot be used', () => {
  const samples = [
    written('f07 of f12 of bdca<eos>'),
    written('f07 of f12 of abcd<eos>'),
    written('f03 of abcd<eos>'),
    written('f03 of f03<eos>', 'off-grammar'),
    written('f11 of f11 of abcd<eos>', 'gives-away'),
    written('f01 of aaab<eos>', 'held-out'),
    written('f04 of f01 of f02 of abcd<eos>'),
    written('f05 of abcd<eos>'),
  ];
  const id = (i: number) => samples[i]!.id;
  const records = recordsOf('trio-composition', [
    groupOf('f07 of f12 of bdca', [1, 0, 1, 0], id(0)),
    groupOf('f07 of f12 of abcd', [1, 1, 1, 1], id(1)),
    groupOf('f03 of abcd', [1, 0, 0, 0], id(2)),
    groupOf('f04 of f01 of f02 of abcd', [0, 0, 0, 0], id(6)),
  ]);
  const paid = payProposals(
    { proposals: { ...records.proposals, samples }, groups: records.groups },
    tokenizer,
  );
  // p = 1/2, 1, 1/4, 0; the first two make the same calls, one other proposal of eight. The last one's group is missing.
  expect(samples.map((sample) => paid.get(sample.id))).toEqual([1 - 1 / 8, -1 / 8, 0.5, 0, 0, null, 0, null]);
});

test('the rule lets the next depth in after five rounds at seventy percent, and half of the tasks are then of it', () => {
  const round = (depth: number, passes: readonly number[]) =>
    recordsOf('trio-composition', [
      groupOf(`${'f04 of '.repeat(depth)}abcd`, passes),
      groupOf('f04 of abcd', [0, 0]),
    ]).groups;
  let state = ruleOf(undefined);
  expect(state).toEqual({ shares: [2, 10, 12], recent: [] });
  for (let i = 0; i < 4; i++) state = nextRule(state, round(3, [1, 1, 1, 0]));
  expect(state).toEqual({ shares: [2, 10, 12], recent: [0.75, 0.75, 0.75, 0.75] });
  expect(nextRule(state, round(3, [0, 0])).shares).toEqual([2, 10, 12]);
  state = nextRule(state, round(3, [1, 0]));
  expect(state).toEqual({ shares: [1, 1, 1, 3], recent: [] });
  for (let i = 0; i < 5; i++) state = nextRule(state, round(4, [1]));
  expect(state.shares).toEqual([1, 1, 1, 1, 4]);
  for (let i = 0; i < 9; i++) state = nextRule(state, round(5, [1]));
  expect(state.shares).toEqual([1, 1, 1, 1, 4]);
});

test('three roles share one update, each over its own tokens that have an advantage', () => {
  const [right, wrong] = [answered(1), answered(0)];
  const records = recordsOf('trio-composition', [
    {
      ...groupOf('f04 of f01 of f02 of abcd', []),
      samples: [right, wrong, wrong, wrong],
      judgments: [verdict(right, '<ok>', 1), verdict(wrong, '<ok>', 1), verdict(wrong, '<bad>', 0)],
      solutionsExact: [true, false, false, false],
    },
    groupOf('f04 of f01 of abcd', [1, 1, 1, 1]),
  ]);
  const proposals = {
    ...records.proposals,
    samples: [1, 0.5, 0, null].map((reward) => ({
      ...written('f04 of abcd<eos>'),
      rewards: reward === null ? {} : { reward },
    })),
  };
  const { updates, figures, recipeState } = learn({ ...records, proposals });
  const parts = updates[0]!.parts as readonly PolicyPart[];
  expect(parts.map(({ role, weight }) => [role, weight])).toEqual([
    ['proposer', 0.5],
    ['solver', 1],
    ['judge', 0.5],
  ]);
  // Rewards 1, 1/2, 0 have the mean 1/2, which has no advantage, and the deviation √(1/6).
  const round = (items: PolicyPart['items']) =>
    items.map(({ advantage }) => Number((advantage as number).toFixed(3)));
  expect(round(parts[0]!.items)).toEqual([1.225, -1.225]);
  // One of four is right: (1 − 1/4)/(1/2) and −1/4/(1/2), with the deviation of a sample; the unanimous group teaches nothing.
  expect(round(parts[1]!.items)).toEqual([1.5, -0.5, -0.5, -0.5]);
  expect(figures).toMatchObject({
    depth: 2.5,
    live: 0.5,
    'written.2': 0.5,
    'written.3': 0.5,
    'written.1': 0,
  });
  expect(recipeState).toBeUndefined();
});
