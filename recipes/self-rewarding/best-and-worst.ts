/** The best and the worst response of each group, as pairs. */
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { bestAgainstWorst } from '../../core/rl/selection/index.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { ungraded } from '../../protocols/graded-answers.ts';
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
  const objective = { kind: 'dpo', beta: 0.1 } as const;
  const part = { kind: 'preference', role: SOLVER, weight: 1, pairs, objective, reference } as const;
  return {
    updates: pairs.length ? [{ set: MAIN_SET, parts: [part], epochs: 2 }] : [],
    figures: { pairs: pairs.length, ungraded: ungraded(groups) },
  };
}
