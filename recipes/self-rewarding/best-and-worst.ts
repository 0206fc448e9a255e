/** The best and the worst response of each group, as pairs. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { bestAgainstWorst } from '../../core/rl/selection/index.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { ungraded } from '../../protocols/graded-answers.ts';
import { preferencePart, updateOf } from '../../protocols/objectives.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { sequenceOf } from '../../protocols/style-responder.ts';

/** By reward; a group of equal rewards makes no pair. */
export const pairsOf = (groups: readonly ScoredGroup[]) =>
  groups.flatMap(({ samples }) => {
    const pair = bestAgainstWorst(samples.map(({ rewards }) => rewards.reward ?? null));
    return pair
      ? [{ chosen: sequenceOf(samples[pair.chosen]!), rejected: sequenceOf(samples[pair.rejected]!) }]
      : [];
  });

/** DPO on the best and the worst graded answer of each group, with the version that wrote them as the reference. */
export function planPairs({ round, groups }: Pick<RoundRecords, 'round' | 'groups'>): TrainingPlan {
  const pairs = pairsOf(groups);
  const reference = { set: MAIN_SET, version: round.roles[SOLVER]!.version };
  const part = preferencePart(SOLVER, pairs, { kind: 'dpo', beta: 0.1 }, reference);
  return {
    updates: updateOf([part], { epochs: 2 }),
    figures: { pairs: pairs.length, ungraded: ungraded(groups) },
  };
}
