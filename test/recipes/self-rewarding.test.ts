/** Self-rewarding by hand: which pairs scores make, and what of a gain is length. */
import { expect, test } from 'vitest';
import { type Answered, pointsAtLengths } from '../../core/roles/style-exam.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { pairsOf } from '../../recipes/self-rewarding.ts';

const group = (rewards: readonly (number | null)[]): ScoredGroup => ({
  round: '0'.repeat(32),
  group: '1'.repeat(32),
  index: 0,
  task: 'az 2-4:tok bel ana dim',
  proposal: null,
  judgments: [],
  gold: rewards.map(() => null),
  truth: rewards.map(() => null),
  samples: rewards.map((reward, i) => ({
    id: String(i).repeat(32),
    role: 'responder',
    policy: { name: 'p', version: 0 },
    prompt: [9],
    ids: [i],
    logprobs: [0],
    stopped: true,
    outcome: 'ok',
    rewards: { reward },
  })),
});
const seq = (i: number) => ({ prompt: [9], ids: [i] });

test('best against worst by score; ties and unscored responses make no pair', () => {
  expect(
    pairsOf([group([3, 4.5, 2, null]), group([4, 4, 4, 4]), group([null, 5, null, null]), group([0, 1])]),
  ).toEqual([
    { chosen: seq(1), rejected: seq(2) },
    { chosen: seq(1), rejected: seq(0) },
  ]);
});

const answered = (response: string | null, score: number): Answered => ({ task: '', response, score });

test('a gain that is length alone is none at the lengths of the start', () => {
  // Short responses earn 2 points, long ones 4, before and after; only their shares change.
  const start = [answered('a b', 2), answered('a b', 2), answered('a b', 2), answered('a b c', 4)];
  const later = [answered('a b', 2), answered('a b c', 4), answered('a b c', 4), answered('a b c', 4)];
  expect(pointsAtLengths(start, start)).toBe(2.5);
  expect(pointsAtLengths(later, start)).toBe(2.5);
  // Better at one length: 3/4 of 3 and 1/4 of 4.
  expect(pointsAtLengths([answered('c d', 3), answered('a b c', 4)], start)).toBe(3.25);
  // A length that is gone does not count; what is no response is a length of its own.
  expect(pointsAtLengths([answered('a b c', 4)], start)).toBe(4);
  expect(pointsAtLengths([answered(null, 0), answered('a', 3)], [answered(null, 0), answered('a', 1)])).toBe(
    1.5,
  );
});
