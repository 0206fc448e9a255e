/** What a solution is paid by the process reward model, and on which of its tokens. Pure functions. */
import type { Judgment } from '../../core/task-family.ts';

/** Weights of the share of lines that are called right and of the verdict on the whole. */
const STEP_WEIGHT = 0.4;
const VERDICT_WEIGHT = 0.6;

/** y: 1 where the whole is called right; a verdict that cannot be read gives nothing. null = there is no verdict. */
export const processReward = (verdict: Judgment | null): number => Number(verdict?.right === true);

/** 0.4 k/n + 0.6 y, k of n lines called right. */
export function stepAugmentedReward(verdict: Judgment | null): number {
  if (!verdict) return 0;
  const { steps } = verdict;
  const share = steps.length ? steps.filter(Boolean).length / steps.length : 0;
  return STEP_WEIGHT * share + VERDICT_WEIGHT * processReward(verdict);
}

/**
 * The selective advantage of each token: praise is kept on lines that are called right and blame on lines that are called wrong; elsewhere it is 0.
 * Tokens outside lines keep it. stepOfToken [tokens], -1 = in no line; marks [steps]. -> [tokens]
 */
export const selectiveAdvantage = (
  advantage: number,
  stepOfToken: readonly number[],
  marks: readonly boolean[],
): number[] => stepOfToken.map((step) => (step < 0 || marks[step] === advantage >= 0 ? advantage : 0));
