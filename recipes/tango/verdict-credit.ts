/**
 * Credit for verdicts where several are sampled on each solution: they are compared with each other, and those on the rarer kind of solution have
 * more weight.
 */
import * as v from 'valibot';
import type { PolicyItem } from '../../core/plan/training-plan.ts';
import { decayedCounts, grpo, inverseRootWeights } from '../../core/rl/estimators/index.ts';
import type { Key } from '../../core/rl/types.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';

/** Running counts of right and wrong solutions, as JSON. */
export const classCounts = v.array(v.tuple([v.union([v.string(), finite]), finite]));
export type ClassCounts = readonly (readonly [Key, number])[];

/** Advantages of a round's verdicts, weighted by 1/√count of solutions with the same label; and the counts after the round. */
export function classWeightedVerdicts(
  groups: readonly Pick<ScoredGroup, 'samples' | 'judgments'>[],
  seen: ClassCounts,
  reward: (verdict: Sample) => number,
): { items: PolicyItem[]; counts: ClassCounts } {
  const labelOf = new Map(
    groups.flatMap(({ samples }) =>
      samples.map(({ id, rewards }) => [id, rewards.reward === 1 ? 'right' : 'wrong']),
    ),
  );
  const verdicts = groups.flatMap(({ judgments }) => judgments);
  const labels = verdicts.map(({ of }) => labelOf.get(of!)!);
  const counts = decayedCounts(new Map(seen), labels);
  const weights = inverseRootWeights(labels, counts);
  const advantages = grpo(
    verdicts.map(reward),
    verdicts.map(({ of }) => of!),
  );
  const items = verdicts.map((sample, i) => ({ sample, advantage: weights[i]! * advantages[i]! }));
  return { items, counts: [...counts] };
}
