/** Who is the spy: players say something about their pictures one after the other, and those who look at the picture of all then vote on who looks at another one. */
import { asking, type Game } from '../../core/game/game.ts';
import type { ProposalTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { debatesIn } from '../../protocols/debate.ts';
import { BLIND } from '../../protocols/evaluate/other-pictures.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { namesSpy, type Vote } from './votes.ts';

export const CIVILIAN = 'civilian';
export const SPY = 'spy';
export const VOTER = 'voter';
/** Players of a game, one of them the spy; all others vote. */
export const SEATS = 4;

export type SpyGame = Game<'solve' | 'clue' | 'vote'>;

/** `games` games about the pictures of each task. Its place among the players is drawn for each spy. */
export async function playGames(
  game: SpyGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  games = context.round.settings.groupSize,
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const places = tasks.flatMap(({ group, task }) =>
    Array.from({ length: games }, (_, episode) => ({
      group,
      task,
      episode,
      spy: new Random(`spy/${group}/${episode}`).int(SEATS),
      clues: [] as string[],
      samples: [] as Sample[],
    })),
  );
  type Place = (typeof places)[number];
  const speak = async (role: string, seat: number, speaking: readonly Place[]) => {
    const asked = speaking.map(({ group, task, episode, clues }) => ({
      ...asking(game, context, 'clue', { task, clues, spy: role === SPY }),
      sampleIds: [rolloutId(group, role, episode * SEATS + seat)],
    }));
    const said = await samplePrompts(context, role, asked);
    for (const [i, place] of speaking.entries()) {
      const [sample] = said[i]!;
      const clue = asked[i]!.parse(tokenizer.decode(sample!.ids));
      place.clues.push(clue.ok ? (clue.value as string) : '');
      place.samples.push({ ...sample!, turn: seat, episode: place.episode });
    }
  };
  for (let seat = 0; seat < SEATS; seat++)
    for (const [role, isSpy] of [
      [CIVILIAN, false],
      [SPY, true],
    ] as const)
      await speak(
        role,
        seat,
        places.filter(({ spy }) => (spy === seat) === isSpy),
      );
  const isBlind = round.settings.variant === BLIND;
  const votes = await samplePrompts(
    context,
    VOTER,
    places.map(({ group, task, episode, clues }) => ({
      ...asking(game, context, 'vote', {
        task: isBlind ? (game.otherPicture?.(task, group) ?? task) : task,
        clues,
      }),
      sampleIds: Array.from({ length: SEATS - 1 }, (_, i) =>
        rolloutId(group, VOTER, episode * (SEATS - 1) + i),
      ),
    })),
  );
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: places
      .slice(t * games, (t + 1) * games)
      .flatMap(({ samples, episode }, i) => [
        ...samples,
        ...votes[t * games + i]!.map((sample) => ({ ...sample, turn: SEATS, episode })),
      ]),
  }));
}

/** What came of a game. */
export interface Told {
  /** In the order of their turns. */
  readonly clues: readonly Sample[];
  /** The spy's number, from 1. */
  readonly spy: number;
  readonly votes: readonly { readonly sample: Sample; readonly said: Vote }[];
}

/** The games of a group that were played to their end. */
export function gamesIn(game: SpyGame, tools: ProposalTools, { task, samples }: RolloutGroup): Told[] {
  return debatesIn(samples).flatMap((turns) => {
    const clues = turns.slice(0, SEATS).flat();
    const spy = 1 + clues.findIndex(({ role }) => role === SPY);
    const voted = turns[SEATS] ?? [];
    if (clues.length < SEATS || spy === 0 || !voted.length) return [];
    const { parse } = asking(game, tools, 'vote', { task, clues: clues.map(() => '') });
    const votes = voted.map((sample) => {
      const read = sample.outcome === 'ok' ? parse(tools.decode(sample.ids)) : null;
      return { sample, said: read?.ok ? read.value : undefined };
    });
    return [{ clues, spy, votes }];
  });
}

/** The share of votes that are right, by the deal or as `isRight` says it, and of those for nobody. Null where nobody voted. */
export function shares(
  games: readonly Pick<Told, 'spy' | 'votes'>[],
  isRight = ({ said }: Told['votes'][number], spy: number): boolean => namesSpy(said, spy),
): { readonly found: number; readonly unsure: number } | null {
  const votes = games.flatMap(({ spy, votes }) =>
    votes.map((vote) => ({ said: vote.said, right: isRight(vote, spy) })),
  );
  return votes.length
    ? {
        found: mean(votes.map(({ right }) => Number(right))),
        unsure: mean(votes.map(({ said }) => Number(said === null))),
      }
    : null;
}
