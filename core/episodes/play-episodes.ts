/**
 * Episodes of several turns in a stage: a role writes a turn and a world answers, until the world ends the episode or no turn fits
 * any more. The record has one sample per turn, whose prompt is all that came before.
 */
import type { SamplingSettings } from '../policy/policy.ts';
import type { RoundContext } from '../recipe/round-context.ts';
import type { Outcome } from '../schema/outcome.ts';
import type { Proposals, Sample } from '../schema/sample.ts';
import { playSeats } from './play-seats.ts';

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

export interface PlaySettings<World> {
  readonly maxTurns: number;
  readonly answer: (world: World, text: string) => Answered<World>;
  readonly sampling?: Partial<SamplingSettings>;
}

/** Plays all episodes side by side, in the order given: those of a single seat (play-seats.ts). */
export async function playEpisodes<World>(
  context: RoundContext,
  role: string,
  beginnings: readonly Beginning<World>[],
  { answer, ...settings }: PlaySettings<World>,
): Promise<Played<World>[]> {
  const played = await playSeats(
    context,
    beginnings.map(({ id, prompt, world }) => ({
      seats: { [role]: { role, id } },
      world: { world, reply: prompt as string | null },
    })),
    {
      ...settings,
      next: ({ reply }) => (reply === null ? [] : [{ seat: role, reads: reply }]),
      answer: (before, [written]) => {
        const { outcome, ...world } = answer(before.world, written!.text);
        return { world, outcomes: [outcome] };
      },
    },
  );
  return played.map(({ world, turns }) => ({ world: world.world, turns }));
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

/** The turns of each episode among a group's samples, in order, those of all its seats. */
export function wholeEpisodesOf(samples: readonly Sample[]): Sample[][] {
  const episodes = new Map<string | number, Sample[]>();
  for (const sample of samples) {
    const key = sample.episode ?? proposalKey(sample);
    episodes.set(key, [...(episodes.get(key) ?? []), sample]);
  }
  return [...episodes.values()].map((turns) => turns.sort((a, b) => (a.turn ?? 0) - (b.turn ?? 0)));
}

/** The outcome of each proposal of a round: that of its last turn. */
export const proposalOutcomes = ({ samples }: Pick<Proposals, 'samples'>): Outcome[] =>
  episodesOf(samples).map((turns) => turns.at(-1)!.outcome);
