/** The episodes of agents that a record tells of, so that a stage can be run again without the agents. */
import {
  type AgentCall,
  type AgentEpisode,
  callSampleId,
  type EpisodesOf,
} from '../episodes/agent-episode.ts';
import { episodesOf } from '../episodes/play-episodes.ts';
import type { Recipe } from '../recipe/recipe.ts';
import type { RoundSpec } from '../schema/round.ts';
import type { Sample, ScoredGroup } from '../schema/sample.ts';

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
  const callOf = ({ role, turn = 0, prompt, ids, stopped, rewards }: Sample): AgentCall => ({
    role,
    turn,
    prompt,
    maxNew: stopped ? roles[role]!.sampling.maxNew : ids.length,
    ...(typeof rewards.turn === 'number' ? { reward: rewards.turn } : {}),
  });
  const chains = episodesOf(samples.filter(({ role }) => agent.seats.includes(role)));
  return Array.from({ length: groupSize }, (_, sample): AgentEpisode => {
    const own = chains.filter(
      ([first]) => callSampleId(group, first!.role, sample, first!.turn ?? 0) === first!.id,
    );
    return {
      sample,
      calls: own
        .flat()
        .map(callOf)
        .sort((a, b) => a.turn - b.turn),
      rewards: Object.fromEntries(
        own.map(([first]) => [first!.role, first!.rewards.reward ?? first!.missing?.reward ?? 'not-rated']),
      ),
    };
  }).filter(({ calls }) => calls.length > 0);
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
