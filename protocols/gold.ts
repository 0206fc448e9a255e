/** What rewards may know of the oracle's word on exactness: a reward function that is declared gold-free cannot read it. Also the coin of the random-reward control. */
import { Random } from '../core/random.ts';
import type { RoundContext } from '../core/round-context.ts';
import type { Sample } from '../core/schema/sample.ts';

/** The oracle's word is handed over behind a check: a reward that is declared gold-free cannot read it, not even by mistake. */
export const sealedGold =
  <T>({ recipe, round }: Pick<RoundContext, 'recipe' | 'round'>, known: T) =>
  (): T => {
    const { rewardFunction } = round.settings;
    if (!recipe.rewards[rewardFunction]?.usesGold)
      throw new Error(`internal: the gold-free reward "${rewardFunction}" of ${recipe.name} read the oracle`);
    return known;
  };

/** For the record of a judgment: what the oracle says, and whether the judgment agrees with it. `said` is the judgment's verdict, null where there is none. */
export const besideOracle = (right: boolean | null, said: boolean | null): Pick<Sample, 'oracle'> =>
  right === null ? {} : { oracle: { right, hit: said === right } };

/** A fair coin, the same for the same sample in every run of it. */
export const coinOf = (sample: string): boolean => new Random(`coin/${sample}`).bool();
