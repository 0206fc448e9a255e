/** The episodes of agents that a record tells of, so that a stage can be run again without the agents. */
import { type AgentEpisode, callSampleId, type EpisodesOf } from '../agent-episode.ts';
import { episodesOf } from '../play-episodes.ts';
import type { Recipe } from '../recipe.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { ScoredGroup } from '../schema/sample.ts';

/**
 * A completion that was cut off was cut off at its length. A sample whose id is that of no call of this group is left out, so that whoever
 * plays the record again finds it missing. None where the recipe has no agents.
 */
export function recordedEpisodes(
  { group, samples }: Pick<ScoredGroup, 'group' | 'samples'>,
  { agent, roles }: Pick<Recipe, 'agent' | 'roles'>,
  { settings: { groupSize } }: Pick<RoundSpec, 'settings'>,
): AgentEpisode[] {
  if (!agent) return [];
  const { maxNew } = roles[agent.role]!.sampling;
  return episodesOf(samples).flatMap((turns) => {
    const first = turns[0]!;
    const sample = Array.from({ length: groupSize }, (_, s) => s).find(
      (s) => callSampleId(group, agent.role, s, first.turn ?? 0) === first.id,
    );
    if (sample === undefined) return [];
    const calls = turns.map(({ turn = 0, prompt, ids, stopped, rewards }) => ({
      turn,
      prompt,
      maxNew: stopped ? maxNew : ids.length,
      ...(typeof rewards.turn === 'number' ? { reward: rewards.turn } : {}),
    }));
    return [{ sample, calls, reward: first.rewards.reward ?? first.missing?.reward ?? 'not-rated' }];
  });
}

/** The episodes of any group of a record; none of a group that it does not have. */
export const episodesOfRecord =
  ({
    recipe,
    round,
    groups,
  }: {
    readonly recipe: Pick<Recipe, 'agent' | 'roles'>;
    readonly round: Pick<RoundSpec, 'settings'>;
    readonly groups: readonly ScoredGroup[];
  }): EpisodesOf =>
  async (group) => {
    const recorded = groups.find((one) => one.group === group);
    return recorded ? recordedEpisodes(recorded, recipe, round) : [];
  };
