import { expect, test } from 'vitest';
import { claim } from '../../claims/fb-align.ts';
import type { ArmResults } from '../../rule/claim.ts';

test('how much likelier the teacher finds the fault: the log-ratio of policy and teacher with its sign turned, over three rounds', () => {
  const runOf = (atFault: readonly number[]) => [
    { heldout: [], monitors: atFault.map((value) => ({ figures: { atFault: value } })) },
  ];
  const results = { quoted: runOf([-0.5, -0.3, -0.1, 9]), aligned: runOf([0.2, 0.2, 0.5, 9]) };
  const { conditions, observations } = claim;
  const measured = (all: typeof conditions, words: string) =>
    all.find(({ description }) => description.includes(words))!.measure(results as unknown as ArmResults, 0);
  expect(measured(conditions, 'quoted, first three rounds')).toBeCloseTo(0.3, 9);
  expect(measured(observations!, 'quoted above aligned, first')).toBeCloseTo(0.6, 9);
});
