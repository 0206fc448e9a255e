/** From a round's records to what each role trains on. Pure: the learner does it wherever it runs, and gets the same batch. */
import type { Recipe, TrainingSample } from '../recipe.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { Proposals, Sample, ScoredGroup } from '../schema/sample.ts';
import type { RoleName } from './stage.ts';

export type RoleBatches = Partial<Record<RoleName, TrainingSample[]>>;

const mean = (values: readonly number[]): number | null =>
  values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;

/** Share of a group's rollouts that count as passed; null where none could be rated. */
export const passRate = (group: ScoredGroup): number | null =>
  mean(group.samples.map((sample) => sample.rewards.passed ?? null).filter((value) => value !== null));

/** Proposals with their reward: priced by the pass rate of the group they became. A proposal whose group is missing has no reward. */
export function priceProposals(
  recipe: Recipe,
  proposals: Proposals,
  groups: readonly ScoredGroup[],
): Sample[] {
  const groupOf = new Map(groups.map((group) => [group.proposal, group]));
  return proposals.samples.map((sample) => {
    const group = groupOf.get(sample.id);
    const reward =
      sample.outcome === 'ok' && !group
        ? null
        : recipe.proposerReward(sample.outcome, group ? passRate(group) : null);
    return { ...sample, rewards: { ...sample.rewards, reward } };
  });
}

/** Groups are put in order first, so that arrival order never changes a batch. Frozen roles are left out. */
export function assemble(
  recipe: Recipe,
  round: RoundSpec,
  proposals: Proposals,
  groups: readonly ScoredGroup[],
): RoleBatches {
  const ordered = [...groups].sort((a, b) => a.index - b.index);
  const all: Required<RoleBatches> = {
    proposer: recipe.advantages.proposer(priceProposals(recipe, proposals, ordered)),
    solver: recipe.advantages.solver(ordered),
    judge: recipe.advantages.judge(ordered, `${round.id}/judge`),
  };
  const frozen = new Set(round.settings.freeze);
  return Object.fromEntries(
    recipe.roles.filter((role) => !frozen.has(role)).map((role) => [role, all[role]]),
  );
}
