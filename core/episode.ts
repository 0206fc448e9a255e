/**
 * Episodes of several turns: tokens the policy made, between tokens put there by others (a prompt, a tool's answer, the other
 * side's move). Token ids travel, never re-read text, and each token remembers whether it was made.
 */
import type { Completion, Policy, SamplingSettings, TokenIds } from './policy.ts';
import { deriveId } from './random.ts';

export interface Episode {
  /** Keys the random numbers of all turns. */
  readonly id: string;
  readonly ids: readonly number[];
  /** Of each token: whether the policy made it. Only such tokens may carry a loss. */
  readonly made: readonly boolean[];
  /** Of each token: log-probability (nats) it was made with; 0 where it was not made. */
  readonly logprobs: readonly number[];
  /** Turns the policy has had. */
  readonly turns: number;
  /** Whether its last turn ended by itself; false before the first. */
  readonly stopped: boolean;
}

export const startEpisode = (id: string, prompt: TokenIds): Episode =>
  insertTokens({ id, ids: [], made: [], logprobs: [], turns: 0, stopped: false }, prompt);

/** The episode with tokens of others at its end. */
export const insertTokens = (episode: Episode, ids: TokenIds): Episode => ({
  ...episode,
  ids: [...episode.ids, ...ids],
  made: [...episode.made, ...ids.map(() => false)],
  logprobs: [...episode.logprobs, ...ids.map(() => 0)],
});

const takeTurn = (episode: Episode, completion: Completion): Episode => ({
  ...episode,
  ids: [...episode.ids, ...completion.ids],
  made: [...episode.made, ...completion.ids.map(() => true)],
  logprobs: [...episode.logprobs, ...completion.logprobs],
  turns: episode.turns + 1,
  stopped: completion.stopped,
});

/** The id of an episode's next turn: it keys that turn's random numbers. */
export const turnId = ({ id, turns }: Pick<Episode, 'id' | 'turns'>): string => deriveId(id, 'turn', turns);

/**
 * One more turn of each episode, in the order given. Episodes that are alike so far share the computation of their tokens.
 * The same episode gets the same turn whatever stands beside it, where the policy keeps that promise for samples.
 */
export async function nextTurn(
  policy: Pick<Policy, 'generate'>,
  episodes: readonly Episode[],
  settings: SamplingSettings,
): Promise<Episode[]> {
  const alike = new Map<string, number[]>();
  for (const [index, { ids }] of episodes.entries()) {
    const key = ids.join();
    alike.set(key, [...(alike.get(key) ?? []), index]);
  }
  const groups = [...alike.values()];
  const completions = await policy.generate(
    groups.map((indices) => ({
      ids: episodes[indices[0]!]!.ids,
      sampleIds: indices.map((index) => turnId(episodes[index]!)),
    })),
    settings,
  );
  const out = [...episodes];
  for (const [g, indices] of groups.entries())
    for (const [i, index] of indices.entries()) out[index] = takeTurn(episodes[index]!, completions[g]![i]!);
  return out;
}
