/**
 * How rewards may use the oracle's results: a reward function that is declared gold-free cannot read them. The coin of the random-reward control is
 * here too.
 */
import { Random } from '../core/random.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import type { Sample } from '../core/schema/sample.ts';

/** The oracle's result behind a check: a reward that is declared gold-free cannot read it, not even by mistake. */
export const sealedGold =
  <T>({ recipe, round }: Pick<RoundContext, 'recipe' | 'round'>, known: T) =>
  (): T => {
    const { rewardFunction } = round.settings;
    if (!recipe.rewards[rewardFunction]?.usesGold)
      throw new Error(`internal: the gold-free reward "${rewardFunction}" of ${recipe.name} read the oracle`);
    return known;
  };

/**
 * For the record of a judgment: what the oracle says, and whether the judgment agrees with it. `said` is the verdict of the judgment, null where
 * there is none.
 */
export const besideOracle = (right: boolean | null, said: boolean | null): Pick<Sample, 'oracle'> =>
  right === null ? {} : { oracle: { right, hit: said === right } };

/** A fair coin, which falls the same way for the same sample in every repetition of a run. */
export const coinOf = (sample: string): boolean => new Random(`coin/${sample}`).bool();
