/**
 * Plays episodes of several turns in a stage: a role writes a turn and a world answers, until the world ends the episode or no turn fits
 * any more. The record has one sample per turn, whose prompt is all that came before: only what the role itself wrote can carry a loss.
 */

import type { SamplingSettings } from '../policy/policy.ts';
import { type RoundContext, sampleOf, samplingOf } from '../recipe/round-context.ts';
import type { Outcome } from '../schema/outcome.ts';
import type { Proposals, Sample } from '../schema/sample.ts';
import { type Episode, insertTokens, nextTurn, startEpisode, turnId } from './episode.ts';

export interface Beginning<World> {
  /** Keys the random numbers of the episode. */
  readonly id: string;
  readonly prompt: string;
  readonly world: World;
}

/** What the world makes of a turn. */
export interface Answered<World> {
  readonly world: World;
  /** What the role reads before its next turn; null ends the episode. */
  readonly reply: string | null;
  /** `ok`, or why the text is no valid turn. */
  readonly outcome: Outcome;
}

export interface Played<World> {
  readonly world: World;
  readonly turns: readonly Sample[];
}

interface Running<World> extends Played<World> {
  readonly episode: Episode;
  readonly over: boolean;
}

export interface PlaySettings<World> {
  readonly maxTurns: number;
  readonly answer: (world: World, text: string) => Answered<World>;
  readonly sampling?: Partial<SamplingSettings>;
}

/** Plays all episodes side by side, in the order given. */
export async function playEpisodes<World>(
  context: RoundContext,
  role: string,
  beginnings: readonly Beginning<World>[],
  { maxTurns, answer, sampling = {} }: PlaySettings<World>,
): Promise<Played<World>[]> {
  const settings = { ...samplingOf(context, role), ...sampling };
  const voice = {
    generate: (prompts: Parameters<RoundContext['generate']>[1]) => context.generate(role, prompts, sampling),
  };
  let all = beginnings.map(
    ({ id, prompt, world }): Running<World> => ({
      world,
      turns: [],
      episode: startEpisode(id, context.tokenizer.encode(prompt)),
      over: false,
    }),
  );
  for (let turn = 0; turn < maxTurns; turn++) {
    const goesOn = ({ episode, over }: Running<World>) =>
      !over && episode.ids.length + settings.maxNew <= context.contextLength;
    const live = all.filter(goesOn);
    if (live.length === 0) break;
    const spoken = await nextTurn(
      voice,
      live.map(({ episode }) => episode),
      settings,
    );
    const after = live.map((running, i) => take(context, role, running, spoken[i]!, answer));
    let at = 0;
    all = all.map((running) => (goesOn(running) ? after[at++]! : running));
  }
  return all.map(({ world, turns }) => ({ world, turns }));
}

function take<World>(
  context: RoundContext,
  role: string,
  { world, turns, episode }: Running<World>,
  spoken: Episode,
  answer: PlaySettings<World>['answer'],
): Running<World> {
  const from = episode.ids.length;
  const completion = {
    ids: spoken.ids.slice(from),
    logprobs: spoken.logprobs.slice(from),
    stopped: spoken.stopped,
  };
  const answered = answer(world, context.tokenizer.decode(completion.ids));
  const id = turnId(episode);
  const sample: Sample = {
    ...sampleOf(context, role, id, episode.ids, completion, spoken.stopped ? answered.outcome : 'cut-off'),
    turn: episode.turns,
    ...(turns[0] ? { of: turns[0].id } : {}),
  };
  return {
    world: answered.world,
    turns: [...turns, sample],
    episode:
      answered.reply === null ? spoken : insertTokens(spoken, context.tokenizer.encode(answered.reply)),
    over: answered.reply === null,
  };
}

/** The id under which a sample's proposal counts: that of its episode's first turn, or its own. */
export const proposalKey = ({ id, of }: Pick<Sample, 'id' | 'of'>): string => of ?? id;

/** The turns of each episode among a group's samples, in order. */
export function episodesOf(samples: readonly Sample[]): Sample[][] {
  const episodes = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = proposalKey(sample);
    episodes.set(key, [...(episodes.get(key) ?? []), sample]);
  }
  return [...episodes.values()];
}

/** The outcome of each proposal of a round: that of its last turn. */
export const proposalOutcomes = ({ samples }: Pick<Proposals, 'samples'>): Outcome[] =>
  episodesOf(samples).map((turns) => turns.at(-1)!.outcome);
