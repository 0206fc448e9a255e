import { expect, test } from 'vitest';
import { worstStep } from '../../claims/self-taught-evaluators.ts';

test('the worst step of a curve', () => {
  expect(worstStep([0.5, 0.6, 0.55, 0.7])).toBeCloseTo(-0.05);
  expect(worstStep([0.5, 0.6, 0.8])).toBeCloseTo(0.1);
});
