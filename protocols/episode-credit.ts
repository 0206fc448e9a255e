/** Credit for episodes of several turns: every turn of an episode is given the episode's reward. */
import { episodesOf } from '../core/episodes/play-episodes.ts';
import type { PolicyItem } from '../core/plan/training-plan.ts';
import { Random } from '../core/random.ts';
import { discountedReturns, grpo } from '../core/rl/estimators/index.ts';
import { groupsOfLargestDeviation } from '../core/rl/selection/index.ts';
import { deviation, mean, present } from '../core/rl/statistics.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import type { GroupEstimator } from './solver.ts';

/** Writes an episode's reward on each of its turns; null is missing. */
export const returnOf = (turns: readonly Sample[]): number | null => turns[0]!.rewards.reward ?? null;

/** The group with the rewards of each of its episodes on all turns of it. `exact`: whether the episode came to what the checker wants. */
export function withEpisodeRewards(
  group: RolloutGroup,
  rated: readonly {
    readonly turns: readonly Sample[];
    readonly rewards: Sample['rewards'];
    readonly exact: boolean;
  }[],
): ScoredGroup {
  const answersExact = rated.flatMap(({ turns, exact }) => turns.map(() => exact));
  const samples = rated.flatMap(({ turns, rewards }) => turns.map((turn) => ({ ...turn, rewards })));
  return { ...group, samples, judgments: [], answersExact, solutionsExact: answersExact };
}

export const spread = (turns: readonly Sample[], advantage: number): PolicyItem[] =>
  turns.map((sample) => ({ sample, advantage }));

/**
 * The training items of some groups, with advantages by an estimator over the episodes' returns [n] and their groups [n], however many turns an
 * episode has. An episode without a return is left out.
 */
export function episodeItems(
  groups: readonly Pick<ScoredGroup, 'group' | 'samples'>[],
  estimator: GroupEstimator,
): PolicyItem[] {
  const episodes = groups.flatMap(({ group, samples }) =>
    episodesOf(samples).map((turns) => ({ group, turns })),
  );
  const tokens = (turns: readonly Sample[]) => turns.reduce((sum, { ids }) => sum + ids.length, 0);
  const of = {
    rewards: episodes.map(({ turns }) => returnOf(turns)),
    groups: episodes.map(({ group }) => group),
    lengths: episodes.map(({ turns }) => tokens(turns)),
  };
  const advantages = estimator([...of.rewards], [...of.groups]);
  return episodes.flatMap(({ turns }, at) => {
    const advantage = advantages[at] ?? null;
    return advantage === null
      ? []
      : turns.map((sample, t) => ({
          sample,
          advantage,
          credit: { of, at, ...(t ? { from: tokens(turns.slice(0, t)) } : {}) },
        }));
  });
}

/**
 * What each turn of an episode was paid [turns]: its own reward, and for the last one what the episode's reward is beyond the sum of them, so that a control, which
 * pays whole episodes, is paid as well. Null where the episode or one of its turns has no reward.
 */
export function turnRewards(turns: readonly Sample[]): number[] | null {
  const total = returnOf(turns);
  if (total === null || turns.some(({ rewards }) => rewards.turn === null)) return null;
  const own = turns.map(({ rewards }) => rewards.turn ?? 0);
  own[own.length - 1]! += total - own.reduce((sum, reward) => sum + reward, 0);
  return own;
}

/**
 * The groups with the (discounted) reward to go of each turn in place of its episode's reward: what the turn itself and those after it were paid. Without a
 * discount the first turn's reward to go is the episode's reward. An episode of which a turn's pay is not known keeps its reward for each of its turns.
 */
export const rewardsToGo = <G extends Pick<ScoredGroup, 'samples'>>(groups: readonly G[], gamma = 1): G[] =>
  groups.map((group) => {
    const toGo = new Map<string, number>();
    for (const turns of episodesOf(group.samples)) {
      const paid = turnRewards(turns);
      if (!paid) continue;
      const returns = discountedReturns(paid, { gamma });
      for (const [i, { id }] of turns.entries()) toGo.set(id, returns[i]!);
    }
    const samples = group.samples.map((sample) => {
      const reward = toGo.get(sample.id);
      return reward === undefined ? sample : { ...sample, rewards: { ...sample.rewards, reward } };
    });
    return { ...group, samples };
  });

/** GRPO over the episodes of each group. */
export const grpoByEpisode = (groups: readonly ScoredGroup[]): PolicyItem[] => episodeItems(groups, grpo);

/** Selects a share of the groups: those whose returns vary most (StarPO-S). */
export function worldsThatDiffer(groups: readonly ScoredGroup[], share: number): string[] {
  const episodes = groups.flatMap(({ group, samples }) =>
    episodesOf(samples).map((turns) => ({ group, value: returnOf(turns) })),
  );
  return groupsOfLargestDeviation(
    episodes.map(({ value }) => value),
    episodes.map(({ group }) => group),
    share,
  ).map(String);
}

/** Selects the same share of the groups, at least one, at random by the seed, whatever their returns are. */
export const worldsAtRandom = (groups: readonly ScoredGroup[], share: number, seed: string): string[] =>
  new Random(`${seed}/worlds`)
    .shuffle(groups.map(({ group }) => group))
    .slice(0, Math.max(1, Math.round(groups.length * share)));

/** What the figures of `echoSigns` mean. */
export const ECHO_SIGNS = {
  success: 'Share of the episodes that reach their goal.',
  returnSpread:
    'Standard deviation of the returns within a group of episodes of one world, mean over groups, in units of reward; 0 = nothing to compare.',
  variety:
    'Number of distinct first turns in a group divided by its number of episodes, mean over groups; 1 = all differ.',
  turns: 'Mean number of turns in an episode.',
} as const;

/**
 * Signs of RAGEN's echo trap, in which an agent repeats one answer: the share of episodes that succeed, how far returns differ within a group, the
 * share of distinct first turns in a group, and the turns of an episode.
 */
export function echoSigns(
  groups: readonly ScoredGroup[],
): Record<'success' | 'returnSpread' | 'variety' | 'turns', number> {
  const byGroup = groups.map(({ samples }) => episodesOf(samples));
  const variety = byGroup.map(
    (episodes) => new Set(episodes.map(([first]) => first!.ids.join())).size / episodes.length,
  );
  const succeeded = groups.flatMap(({ samples, answersExact }) =>
    samples.flatMap(({ turn = 0 }, i) => (turn === 0 ? [Number(answersExact[i] === true)] : [])),
  );
  return {
    success: mean(succeeded),
    returnSpread: mean(byGroup.map((episodes) => deviation(present(episodes.map(returnOf)), 0))),
    variety: mean(variety),
    turns: mean(byGroup.flat().map((turns) => turns.length)),
  };
}
