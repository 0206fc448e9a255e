/** What proposers are paid, length penalties, shaping by history, and votes: by hand. */
import { expect, test } from 'vitest';
import {
  agreement,
  bandPass,
  entropyBand,
  entropyOfCounts,
  interiorDifficulty,
  learnability,
  majority,
  majorityRewards,
  marginShaping,
  overlongPenalty,
  overlongPenaltyUncapped,
  penalisedDifficulty,
  qualityShaping,
  uncertainty,
} from '../../../core/rl/rewards/index.ts';
import { expectClose } from '../../learner/losses/finite-difference.ts';

const RATES = [0, 0.25, 0.5, 0.75, 1];

test('proposers are paid most at the frontier, each system in its own way', () => {
  expectClose(RATES.map(learnability), [0, 0.75, 1, 0.75, 0]);
  expectClose(RATES.map(bandPass), [0, 0.25, 0.5, 0.25, 0]);
  expectClose(RATES.map(uncertainty), [0, 0.5, 1, 0.5, 0]);
  expectClose(RATES.map(interiorDifficulty), [0, 0.75, 0.5, 0.25, 0]);
  expectClose(
    RATES.map((p) => penalisedDifficulty(p)),
    [-0.8, 0.55, 0.1, -0.35, -0.8],
  );
});

test('the entropy band is 1 at its centre and e^-½ one width away', () => {
  expect(entropyBand(0.9)).toBe(1);
  expectClose([entropyBand(0.55), entropyBand(1.25)], [Math.exp(-0.5), Math.exp(-0.5)]);
  expectClose([entropyOfCounts([1, 1]), entropyOfCounts([5, 0]), entropyOfCounts([])], [Math.LN2, 0, 0]);
});

test('overlong answers: DAPO stops at the limit, AReaL goes on', () => {
  const options = { maxLength: 100, buffer: 20, factor: 0.5 };
  const lengths = [10, 80, 90, 100, 120];
  expectClose(
    lengths.map((length) => overlongPenalty(length, options)),
    [0, 0, -0.25, -0.5, -0.5],
  );
  expectClose(
    lengths.map((length) => overlongPenaltyUncapped(length, options)),
    [0, 0, -0.25, -0.5, -1],
  );
});

test('shaping by history pays for improving and for staying right', () => {
  expectClose([marginShaping(1, 0.5), marginShaping(0, 0.5)], [1.25, -0.25]);
  expectClose(
    [qualityShaping(1, 0.5), qualityShaping(0, 0.25), qualityShaping(0.5, 0.25)],
    [1.25, -0.375, 0.375],
  );
  expect([marginShaping(1, null), qualityShaping(0, null)]).toEqual([1, 0]);
});

test('a majority counts abstentions in its share and the first of equals wins', () => {
  const vote = majority(['a', 'b', 'a', null])!;
  expect({ ...vote, entropy: 0 }).toEqual({ answer: 'a', count: 2, share: 0.5, entropy: 0 });
  expectClose([vote.entropy], [Math.log(3) - (2 / 3) * Math.LN2]);
  expect(majority(['y', 'x', 'y', 'x'])?.answer).toBe('y');
  expect(majority([null, null])).toBeNull();
  expect(majority([])).toBeNull();
});

test('agreement is a share of the answers given; rewards by majority leave abstentions at 0', () => {
  expect(agreement([1, 2, 1, null, 1])).toEqual([0.75, 0.25, 0.75, null, 0.75]);
  expect(majorityRewards([1, 2, 1, null])).toEqual([1, 0, 1, 0]);
  expect(majorityRewards([null])).toEqual([0]);
});
