import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, PolicyPart, ValuePart } from '../../core/plan/training-plan.ts';
import { grade, rise } from '../../recipes/rise/recipe.ts';
import { expectRows, recordsOf, solved, verdict } from './records.ts';

test('one rule for solutions and verdicts: 1, -0.5, -1', () => {
  expect(grade({ outcome: 'ok' }, 1)).toBe(1);
  expect(grade({ outcome: 'ok' }, 0)).toBe(-0.5);
  expect(grade({ outcome: 'off-grammar' }, 0)).toBe(-1);
});

/**
 * One right solution and one wrong verdict on it, two tokens each, log-probabilities -1 everywhere and -1.5 at version 0, so that the
 * penalty is .01 * .5 = .005 a token. The critic says .5 everywhere. Rewards [-.005, .995] and [-.005, -.505]: returns [.99, .995] and
 * [-.51, -.505], advantages [.49, .495, -1.01, -1.005]: mean -.2575, squares of what is left .558756, .566256, .566256, .558756,
 * variance (n - 1) .750008, deviation .866030: whitened [.863134, .868907, -.868907, -.863134].
 */
const tools = {
  score: (_set: string, sequences: readonly { ids: readonly number[] }[]) =>
    Promise.resolve(sequences.map(({ ids }) => Float32Array.from(ids, () => -1.5))),
  values: (_set: string, sequences: readonly { ids: readonly number[] }[]) =>
    Promise.resolve(sequences.map(({ ids }) => Float32Array.from(ids, () => 0.5))),
} as unknown as LearnTools;

const solution = { ...solved('<answer>', 1), ids: [1, 2], logprobs: [-1, -1] };
const judged = { ...verdict(solution, '', 0), ids: [3, 4], logprobs: [-1, -1] };
const records = recordsOf('rise', [{ samples: [solution], judgments: [judged] }]);

test('solutions and verdicts share a batch: advantages are whitened together, the critic learns the returns', async () => {
  const { updates } = await planTraining(rise, records, tools);
  const [critic, main] = updates;
  expect([critic!.set, main!.set]).toEqual(['critic', 'main']);
  const values = critic!.parts as ValuePart[];
  expect(values.map(({ role }) => role)).toEqual(['solver', 'judge']);
  expectRows(
    values.map(({ items }) => items[0]!.targets),
    [
      [0.99, 0.995],
      [-0.51, -0.505],
    ],
    5,
  );
  expectRows(
    (main!.parts as PolicyPart[]).map(({ items }) => items[0]!.advantage as number[]),
    [
      [0.863134, 0.868907],
      [-0.868907, -0.863134],
    ],
  );
});

test('without verdicts the solver is trained alone', async () => {
  const { updates } = await planTraining(
    rise,
    recordsOf('rise', [{ samples: [solution], judgments: [judged] }], { freeze: ['judge'] }),
    tools,
  );
  expect(updates.map(({ parts }) => parts.map(({ role }) => role))).toEqual([['solver'], ['solver']]);
});
