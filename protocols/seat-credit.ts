/**
 * Credit in episodes of several seats: which returns are compared with each other, and what a turn is credited with. The result is data of the training
 * plan like that of every estimator.
 */
import { episodesOf } from '../core/episodes/play-episodes.ts';
import type { PolicyItem, PolicyPart, Update } from '../core/plan/training-plan.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { type Baselines, roleAdvantages } from '../core/rl/estimators/index.ts';
import { deviation, mean, present } from '../core/rl/statistics.ts';
import type { Key, Maybe } from '../core/rl/types.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { gameOf } from '../worlds/games/match.ts';
import { episodeItems, returnOf, rewardsToGo } from './episode-credit.ts';
import { writtenBy } from './samples-of-role.ts';
import { type GroupEstimator, groupItems, policyPart } from './solver.ts';

export interface SeatCredit {
  /** A turn is credited with the seat's return of the episode, or with what it and the seat's later turns earned. */
  readonly by: 'episode' | 'turn';
  /** Discount from one turn of a seat to its next; default 1. For credit by turn. */
  readonly gamma?: number;
  /** Each seat is compared with itself in other episodes, or all seats with each other. */
  readonly compare: 'seat' | 'pooled';
  /** Within the episodes of one deal, or within all episodes of the game in the round. */
  readonly within: 'deal' | 'game';
}

/** The key within which a seat's returns are compared. */
const keyOf = ({ group, task }: ScoredGroup, role: string, { compare, within }: SeatCredit): string =>
  [within === 'deal' ? group : gameOf(task), ...(compare === 'seat' ? [role] : [])].join('/');

/** The training items of the turns that some roles wrote, by role. A turn of a seat without a return is left out. */
export function seatItems(
  groups: readonly ScoredGroup[],
  roles: readonly string[],
  credit: SeatCredit,
  estimator: GroupEstimator,
): Map<string, PolicyItem[]> {
  const own = groups.flatMap((group) =>
    roles
      .map((role) => ({ ...writtenBy(group, role), group: keyOf(group, role, credit) }))
      .filter(({ samples }) => samples.length > 0),
  );
  const items =
    credit.by === 'turn'
      ? groupItems(rewardsToGo(own, credit.gamma), estimator)
      : episodeItems(own, estimator);
  return new Map(roles.map((role) => [role, items.filter(({ sample }) => sample.role === role)]));
}

/**
 * Role-conditioned advantage estimation (SPIRAL, arXiv:2506.24119) as an estimator: a running mean of its returns is the baseline of each key. `after`
 * holds the baselines once it was used.
 */
export function runningRoleBaselines(baselines: Baselines, decay: number) {
  let after: Baselines = baselines;
  const estimator = (rewards: Maybe[], keys: Key[]): Maybe[] => {
    const { advantages, baselines: next } = roleAdvantages(rewards, keys, { decay, baselines: after });
    after = next;
    return advantages;
  };
  return {
    estimator,
    after: () => Object.fromEntries([...after].map(([key, value]) => [String(key), value])),
  };
}

/** One update for each parameter set that roles with items are sampled by; each role is a part of weight 1. */
export function seatUpdates(
  items: ReadonlyMap<string, readonly PolicyItem[]>,
  roles: Recipe['roles'],
  how: Omit<PolicyPart, 'kind' | 'role' | 'weight' | 'items'>,
): Update[] {
  const bySet = new Map<string, PolicyPart[]>();
  for (const [role, own] of items) {
    if (own.length === 0) continue;
    const set = roles[role]?.set ?? MAIN_SET;
    bySet.set(set, [...(bySet.get(set) ?? []), policyPart(role, own, how)]);
  }
  return [...bySet].map(([set, parts]) => ({ set, parts }));
}

/** What the figures of `seatFigures` mean. */
export const SEAT_FIGURES = {
  seatReward: 'Mean return of the role in the round’s episodes that have one, in the unit of the reward.',
  seatSpread: 'Standard deviation of the role’s returns in the round, in the unit of the reward.',
  seatTurns: 'Mean number of turns that the role has in an episode.',
} as const;

/** Return, spread and turns of each role in the episodes of a round. */
export function seatFigures(
  groups: readonly ScoredGroup[],
  roles: readonly string[],
): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const role of roles) {
    const episodes = groups.flatMap((group) => episodesOf(writtenBy(group, role).samples));
    const returns = present(episodes.map(returnOf));
    if (returns.length === 0) continue;
    figures[`seatReward.${role}`] = mean(returns);
    figures[`seatSpread.${role}`] = deviation(returns, 0);
    figures[`seatTurns.${role}`] = mean(episodes.map((turns) => turns.length));
  }
  return figures;
}
