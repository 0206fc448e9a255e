/** What a written question earns, and how that becomes advantages. Pure functions. */
import { mapGroups, positionsByKey } from '../../core/rl/groups.ts';
import { deviation, deviationOfPresent, mean } from '../../core/rl/statistics.ts';
import type { Key, Maybe } from '../../core/rl/types.ts';
import type { Outcome } from '../../core/schema/outcome.ts';

/** What text earns that is no question. */
const MALFORMED = -1;
/** Keeps the division finite where no group differs. */
const EPSILON = 1e-6;

/** A valid question earns its score, null where that is missing; a repeated one 0, a held-out one nothing, and what is no question −1. */
export function questionPay(outcome: Outcome, score: Maybe): Maybe {
  if (outcome === 'ok') return score;
  if (outcome === 'held-out') return null;
  return outcome === 'duplicate' ? 0 : MALFORMED;
}

/**
 * DuGRPO: A = (r − mean of the group) / (σ of the group + mean of the groups' σ that are not 0 + ε), so that a group whose rewards hardly differ is not amplified. rewards [n], groups
 * [n] -> [n], null where missing.
 */
export function dualScaled(rewards: ArrayLike<Maybe>, groups: ArrayLike<Key>): Maybe[] {
  const spreads = [...positionsByKey(groups).values()].map((at) =>
    deviationOfPresent(
      at.map((i) => rewards[i]!),
      1,
    ),
  );
  const usual = mean(spreads.filter((spread) => spread > 0));
  return mapGroups(rewards, groups, (group) => {
    const centre = mean(group);
    const scale = deviation(group, 1) + usual + EPSILON;
    return group.map((reward) => (reward - centre) / scale);
  });
}
