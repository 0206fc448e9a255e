/** What rewards may know of the truth: all of it, or nothing; and the coin of the random-reward control. */
import { Random } from '../core/random.ts';
import type { RoundContext } from '../core/round-context.ts';
import type { Sample } from '../core/schema/sample.ts';

/** Gold is handed over behind a check: a reward that is declared gold-free cannot read it, not even by mistake. */
export const sealedGold =
  <T>({ recipe, round }: Pick<RoundContext, 'recipe' | 'round'>, gold: T) =>
  (): T => {
    const { reward } = round.settings;
    if (!recipe.rewards[reward]?.usesGold)
      throw new Error(`internal: the gold-free reward "${reward}" of ${recipe.name} read the oracle`);
    return gold;
  };

/** For the record of a judgment: the oracle's word and whether the judgment's is the same, `said` null where it has none. */
export const besideTruth = (truth: boolean | null, said: boolean | null): Pick<Sample, 'oracle'> =>
  truth === null ? {} : { oracle: { truth, hit: said === truth } };

/** A fair coin, the same for the same sample in every run of it. */
export const coinOf = (sample: string): boolean => new Random(`coin/${sample}`).bool();
