/** The objectives and updates that many recipes share. */
import type { PreferencePart, SftPart, Update, UpdatePart, WeightsRef } from '../core/plan/training-plan.ts';
import { grpo } from '../core/rl/estimators/index.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { groupItems, solverUpdate } from './solver.ts';

/** The main set as the run began. */
export const START = { set: MAIN_SET, version: 0 } as const satisfies WeightsRef;

/** PPO's clipped objective, with ratios in [0.8, 1 + high], as a mean over all tokens of the round. */
export const ppoClip = (high = 0.2) =>
  ({
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: high },
    aggregation: { mode: 'token-mean' },
  }) as const;

/** GRPO's update of the solver: rewards standardised within each group, and PPO's clipped objective. */
export const grpoUpdate = (
  groups: readonly Pick<ScoredGroup, 'group' | 'samples'>[],
  high?: number,
): Update[] => solverUpdate(groupItems(groups, grpo), ppoClip(high));

/** A KL penalty towards the policy that the run began from, by the estimator k3. */
export const nearStart = (weight: number, set: string = MAIN_SET) =>
  ({ kl: { weight, estimator: 'k3', reference: { set, version: 0 } } }) as const;

/** Supervised fine-tuning on texts of a role. */
export const sftPart = (role: string, items: SftPart['items'], weight = 1): SftPart => ({
  kind: 'sft',
  role,
  weight,
  items,
});

/** A preference objective on pairs of a role's texts. */
export const preferencePart = (
  role: string,
  pairs: PreferencePart['pairs'],
  objective: PreferencePart['objective'],
  reference: WeightsRef = START,
): PreferencePart => ({ kind: 'preference', role, weight: 1, pairs, objective, reference });

/** One update of a set by the parts that have something to train on; none where no part has. */
export function updateOf(
  parts: readonly UpdatePart[],
  more: Omit<Update, 'set' | 'parts'> = {},
  set: string = MAIN_SET,
): Update[] {
  const full = parts.filter((part) => ('pairs' in part ? part.pairs : part.items).length);
  return full.length ? [{ set, ...more, parts: full }] : [];
}
