/**
 * The unbiased estimate of pass@k from n samples of a question (Chen et al., "Evaluating Large Language Models Trained on Code", 2021,
 * arXiv:2107.03374, equation 1): the chance that k of the n samples, drawn without replacement, hold a right one.
 *
 *     pass@k = 1 − C(n − c, k) / C(n, k)        c of the n samples are right
 */
import { wrongInput } from '../errors.ts';

/** In [0, 1]. Throws `wrong-input` unless 0 ≤ right ≤ n and 1 ≤ k ≤ n: fewer than k samples give no unbiased estimate. */
export function passAtK(n: number, right: number, k: number): number {
  const whole = [n, right, k].every(Number.isInteger);
  if (!whole || right < 0 || right > n || k < 1 || k > n)
    throw wrongInput('statistics.pass-at-k', `pass@${k} was asked of ${n} samples, ${right} of them right.`, {
      expected: 'whole numbers with 0 ≤ right ≤ n and 1 ≤ k ≤ n',
      next: 'Draw at least k samples of every question.',
    });
  // C(n − c, k) / C(n, k) as a product of factors below 1, so that no binomial coefficient overflows.
  let allWrong = 1;
  for (let i = n - right + 1; i <= n; i++) allWrong *= Math.max(0, 1 - k / i);
  return 1 - allWrong;
}
