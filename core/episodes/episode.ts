/**
 * Episodes of several turns. The policy samples some of the tokens; between them stand tokens that others put there (a prompt, a
 * tool's answer, the other side's move). An episode keeps token ids, never text that is encoded again, and for each whether it was sampled.
 */
import type { Completion, Policy, SamplingSettings, TokenIds } from '../policy/policy.ts';
import { deriveId } from '../random.ts';

export interface Episode {
  /** Keys the random numbers of all turns. */
  readonly id: string;
  readonly ids: readonly number[];
  /** For each token: did the policy sample it? Only such tokens may carry a loss. */
  readonly made: readonly boolean[];
  /** For each token: the log-probability (nats) it was sampled with; 0 where it was not sampled. */
  readonly logprobs: readonly number[];
  /** The number of turns that the policy has had. */
  readonly turns: number;
  /** Did the last turn end by itself? false before the first. */
  readonly stopped: boolean;
}

export const startEpisode = (id: string, prompt: TokenIds): Episode =>
  insertTokens({ id, ids: [], made: [], logprobs: [], turns: 0, stopped: false }, prompt);

/** The episode with tokens of others appended. */
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
 * Samples one more turn of each episode, in the order given. Episodes with the same tokens so far share the computation of them.
 * An episode gets the same turn whatever is sampled in the same call, if the policy guarantees that for samples.
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
