import { expect, test } from 'vitest';
import { riseAfterLearned } from '../../claims/one-shot.ts';

test('the rise after the example is learned: the last three evaluations above the first at which it is', () => {
  const monitors = [0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9, 0.96, ...new Array<number>(12).fill(1)].map(
    (gold, i) => ({
      round: i + 1,
      figures: { gold },
    }),
  );
  const heldout = [0.3, 0.4, 0.45, 0.5, 0.53, 0.5].map((sampled, i) => ({ round: 4 * i, sampled }));
  const results = { a: [{ heldout, monitors }] } as never;
  // Rounds 4 and 8 have .8 and .96 on the example: learned at the second evaluation, .45; then .5, .53 and .5.
  expect(riseAfterLearned(results, 'a', 0)).toBeCloseTo(0.51 - 0.45);
  const never = {
    a: [{ heldout, monitors: monitors.map((m) => ({ ...m, figures: { gold: 0.5 } })) }],
  } as never;
  expect(riseAfterLearned(never, 'a', 0)).toBeNaN();
});
