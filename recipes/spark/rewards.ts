/** The rewards of a solution by the process reward model, and the tokens on which they are placed. Pure functions. */
import type { Judgment } from '../../core/recipe/task-family.ts';

/** Weights of the share of lines that are called right and of the verdict on the whole. */
const STEP_WEIGHT = 0.4;
const VERDICT_WEIGHT = 0.6;

/** y: 1 where the whole is called right, otherwise 0. `verdict` is null where there is none that parses, which gives 0 too. */
export const processReward = (verdict: Judgment | null): number => Number(verdict?.right === true);

/** 0.4 k/n + 0.6 y, k of n lines called right. */
export function stepAugmentedReward(verdict: Judgment | null): number {
  if (!verdict) return 0;
  const { steps } = verdict;
  const share = steps.length ? steps.filter(Boolean).length / steps.length : 0;
  return STEP_WEIGHT * share + VERDICT_WEIGHT * processReward(verdict);
}

/**
 * The selective advantage of each token: positive advantages are kept on lines that are called right and negative ones on lines that are called
 * wrong; elsewhere they are 0. Tokens outside lines keep theirs. stepOfToken [tokens], -1 = in no line; marks [steps]. -> [tokens]
 */
export const selectiveAdvantage = (
  advantage: number,
  stepOfToken: readonly number[],
  marks: readonly boolean[],
): number[] => stepOfToken.map((step) => (step < 0 || marks[step] === advantage >= 0 ? advantage : 0));
