/** The best and the worst response of each group, as pairs. */
import { bestAgainstWorst } from '../../core/rl/selection/index.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { sequenceOf } from '../../protocols/respond.ts';

/** By reward; a group of equal rewards makes no pair. */
export const pairsOf = (groups: readonly ScoredGroup[]) =>
  groups.flatMap(({ samples }) => {
    const pair = bestAgainstWorst(samples.map(({ rewards }) => rewards.reward ?? null));
    return pair
      ? [{ chosen: sequenceOf(samples[pair.chosen]!), rejected: sequenceOf(samples[pair.rejected]!) }]
      : [];
  });
