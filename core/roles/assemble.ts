/** From a round's records to what each of the three roles trains on. Pure: the learner does it wherever it runs, and gets the same batch. */

import { MAIN_SET } from '../schema/policy.ts';
import type { Proposals, ScoredGroup } from '../schema/sample.ts';
import type { Lesson, PolicyItem, PolicyPart, RoundRecords } from '../training.ts';
import { type RoleName, rewardKind, type ThreeRoles } from './three-role-game.ts';

const mean = (values: readonly number[]): number | null =>
  values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;

/** Share of a group's rollouts that count as passed; null where none could be rated. */
export const passRate = (group: ScoredGroup): number | null =>
  mean(group.samples.map((sample) => sample.rewards.passed ?? null).filter((value) => value !== null));

/** What proposals earn: they are priced by the pass rate of the group they became. One whose group is missing has no reward. */
export function priceProposals(
  game: Pick<ThreeRoles, 'proposerReward'>,
  { samples }: Pick<Proposals, 'samples'>,
  groups: readonly ScoredGroup[],
): ReadonlyMap<string, number | null> {
  const groupOf = new Map(groups.map((group) => [group.proposal, group]));
  return new Map(
    samples.map(({ id, outcome }) => {
      const group = groupOf.get(id);
      const missing = outcome === 'ok' && !group;
      return [id, missing ? null : game.proposerReward(outcome, group ? passRate(group) : null)];
    }),
  );
}

/** One update of the shared weights: the three roles' clipped objectives, each over its own tokens, and KL to version 0. */
export function assemble(game: ThreeRoles, { round, proposals, groups }: RoundRecords): Lesson {
  const { kl } = rewardKind(game, round.settings.reward);
  const part = (role: RoleName, items: readonly PolicyItem[]): PolicyPart => {
    const { weight, clipLow, clipHigh } = game.objective[role];
    return {
      kind: 'policy',
      role,
      weight,
      items,
      objective: { kind: 'ppo-clip', clipLow, clipHigh },
      aggregation: { mode: 'token-mean' },
      ...(kl > 0 ? { kl: { weight: kl, estimator: 'k3', reference: { set: MAIN_SET, version: 0 } } } : {}),
    };
  };
  const { proposer, solver, judge } = game.advantages;
  const parts = [
    part('proposer', proposer(proposals.samples)),
    part('solver', solver(groups)),
    part('judge', judge(groups, `${round.id}/judge`)),
  ];
  return { updates: [{ set: MAIN_SET, parts }] };
}
