/** qwen-prm on questions of files: a classifier of whole answers, taught where the checker and the judge agree. */
import { expect, test } from 'vitest';
import type { LearnTools, RoundRecords } from '../../core/plan/training-plan.ts';
import { learnWhole } from '../../recipes/qwen-prm/whole-answers.ts';

/** An answer is its id; `judge`: whether its verdict agrees with the checker, null where it does not parse. */
const answered = (id: number, reward: 0 | 1, judge: boolean | null, outcome = 'ok') => ({
  sample: { id: String(id), prompt: [0], ids: [id], outcome, rewards: { reward } },
  judgment: {
    of: String(id),
    outcome: judge === null ? 'off-grammar' : 'ok',
    rewards: { agreement: Number(judge === true) },
  },
});
const groups = [
  [answered(1, 1, true), answered(2, 0, true)],
  [answered(3, 1, false), answered(4, 0, false), answered(5, 0, null), answered(6, 0, true, 'off-grammar')],
].map((all) => ({
  samples: all.map(({ sample }) => sample),
  judgments: all.map(({ judgment }) => judgment),
}));

/** The classifier finds answer 1 better than 2, and 4 best of the others. */
const RIGHT: Readonly<Record<number, number>> = { 1: 0.6, 2: 0.3, 3: 0.5, 4: 0.9, 5: 0.1 };
const classes: LearnTools['classes'] = async (_set, sequences) =>
  sequences.map(({ ids }) => {
    const right = RIGHT[ids[0]!]!;
    return Float32Array.of(Math.log(1 - right), Math.log(right));
  });

const play = async (variant?: string) => {
  const round = { settings: variant === undefined ? {} : { variant } };
  const plan = await learnWhole({ round, groups } as unknown as RoundRecords, { classes });
  const parts = plan.updates.flatMap((update) => update.parts);
  const taught = parts.flatMap((part) =>
    part.kind === 'classification' ? part.items.map(({ ids, label }) => [ids[0], label]) : [],
  );
  return { taught, figures: plan.figures };
};

test('answers are kept on which the checker and the judge agree', async () => {
  const { taught, figures } = await play();
  expect(taught).toEqual([
    [1, 1],
    [2, 0],
  ]);
  // Two of five answers that parse are kept; two of five are right, and so is the best of the first group.
  expect(figures).toEqual({ kept: 0.4, oneOfGroup: 0.4, bestOfGroup: 0.5 });
});

test('variants: labels by either of the two alone', async () => {
  expect((await play('checker')).taught).toEqual([
    [1, 1],
    [2, 0],
    [3, 1],
    [4, 0],
    [5, 0],
  ]);
  expect((await play('judge')).taught).toEqual([
    [1, 1],
    [2, 0],
    [3, 0],
    [4, 1],
  ]);
});
