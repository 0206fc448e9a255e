/**
 * An episode of a seated game: played on by the texts of its seats, or told again from a record. Rules that break end it by a named error and never by an
 * exception, so that what was written up to there is kept.
 */
import type { Reading, SeatsRules, Written } from '../../core/episodes/play-seats.ts';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { Moved, SeatedGame } from '../../core/game/seated-game.ts';
import { Random } from '../../core/random.ts';
import type { MissingReward } from '../../core/schema/missing-reward.ts';
import { agentPrompt } from '../environment.ts';
import { saidInMessages } from '../message-family.ts';
import { withoutStop } from '../worked.ts';

export type BySeat<T> = Readonly<Record<string, T>>;

export interface Match {
  readonly game: SeatedGame;
  readonly state: unknown;
  /** The seats that move now, each with what it reads. None: the match is over, or its rules broke. */
  readonly readings: readonly Reading[];
  /** Moves so far. */
  readonly turns: number;
  /** What each round of moves paid [rounds]; a seat that it left out while it paid others has null. */
  readonly paid: readonly BySeat<number | null>[];
  /** Why it could not go on. */
  readonly fault: RollmeshError | null;
}

/** The task that names a deal of a game. `seed`: hexadecimal digits. */
export const matchTask = ({ name }: Pick<SeatedGame, 'name'>, seed: string): string => `${name} ${seed}`;

/** The name of the game that a task is a deal of. */
export const gameOf = (task: string): string => task.split(' ')[0]!;

/** The match that a task names, before its first move. Throws `tasks.game` for any other text. */
export function openMatch(games: readonly SeatedGame[], task: string): Match {
  const [, name, seed] = /^(\S+) ([0-9a-f]+)$/.exec(task) ?? [];
  const game = games.find((one) => one.name === name);
  if (!game)
    throw wrongInput('tasks.game', `${JSON.stringify(task)} names no game.`, {
      expected: `the name of a game (${games.map((one) => one.name).join(', ')}) and a seed in hexadecimal digits`,
    });
  const blank: Match = { game, state: undefined, readings: [], turns: 0, paid: [], fault: null };
  return guarded(
    blank,
    'deal',
    () => game.deal(new Random(`${game.name}/${seed}`)),
    (state) => asked({ ...blank, state }),
  );
}

/** The match after the moves of all who were to move, and the seats whose move was refused. */
export function moveOn(
  match: Match,
  moves: BySeat<string>,
): { readonly match: Match; readonly refused: readonly string[] } {
  const { game, state } = match;
  let refused: readonly string[] = [];
  const next = guarded(
    match,
    'move',
    () => movedBy(game, game.move(state, moves)),
    (moved) => {
      refused = moved.refused ?? [];
      const { rewards } = moved;
      const nothing = Object.fromEntries(game.seats.map((seat) => [seat, 0]));
      const paid = rewards
        ? Object.fromEntries(game.seats.map((seat) => [seat, rewards[seat] ?? null]))
        : nothing;
      return asked({
        ...match,
        state: moved.state,
        turns: match.turns + match.readings.length,
        paid: [...match.paid, paid],
      });
    },
  );
  return { match: next, refused };
}

/** How the rules of games are played on by `playSeats`. `longest`: the most turns of an episode. */
export const matchRules = (longest: number): SeatsRules<Match> => ({
  maxTurns: longest,
  // A game of fewer turns ends at its own number of them.
  next: ({ readings, turns, game }) => (turns + readings.length > game.maxTurns ? [] : readings),
  answer: (match, texts) => {
    const { match: next, refused } = moveOn(match, movesOf(match.game, texts));
    return {
      world: next,
      outcomes: texts.map(({ seat }) => (refused.includes(seat) ? 'off-grammar' : 'ok')),
    };
  },
});

/** The texts of seats as moves: without what ended them, and as others can be shown them. */
export const movesOf = ({ tags }: SeatedGame, texts: readonly Written[]): BySeat<string> =>
  Object.fromEntries(
    texts.map(({ seat, text, speaker }) => {
      if (tags) return [seat, withoutStop(text) ?? text];
      // A policy that writes in tags is shown them as it writes them.
      const renderer = speaker.renderer();
      return [seat, renderer.kind === 'tags' ? renderer.readText(text).text : saidInMessages(text, speaker)];
    }),
  );

/** Why a match has no rewards; null where it is over. */
export const whyUnpaid = ({ fault, readings }: Match): MissingReward | null =>
  fault ? 'broken-rules' : readings.length ? 'unended' : null;

/** What each seat was paid in all; null where it was left out. A match that is not over has paid nobody. */
export const returnsOf = ({ game, paid }: Match): BySeat<number | null> =>
  Object.fromEntries(
    game.seats.map((seat) => [
      seat,
      paid.reduce<number | null>(
        (sum, round) => (sum === null || round[seat] === null ? null : sum + round[seat]!),
        0,
      ),
    ]),
  );

/** Asks the rules who moves now. */
const asked = (match: Match): Match => {
  const { game, state } = match;
  return guarded(
    match,
    'toMove',
    () => readingsOf(game, state),
    (readings) => ({ ...match, readings }),
  );
};

function readingsOf(game: SeatedGame, state: unknown): Reading[] {
  const movers = game.toMove(state);
  if (!Array.isArray(movers)) throw broken('toMove', `returns ${shown(movers)}`, 'a list of seats');
  const stranger = movers.find((seat) => !game.seats.includes(seat));
  if (stranger !== undefined)
    throw broken(
      'toMove',
      `names the seat ${shown(stranger)}, which nobody holds`,
      `seats among ${game.seats.join(', ')}`,
    );
  if (new Set(movers).size < movers.length)
    throw broken('toMove', `names a seat twice: ${movers.join(', ')}`, 'each seat that moves once');
  return movers.map((seat): Reading => {
    const text = game.view(state, seat);
    if (typeof text !== 'string' || text.trim() === '')
      throw broken('view', `returns ${shown(text)} for ${seat}`, 'a text that is not empty');
    const reads = game.tags ? agentPrompt(text) : [{ role: 'user' as const, content: text }];
    return { seat, reads, ...(game.remembers ? {} : { anew: true as const }) };
  });
}

function movedBy({ seats }: SeatedGame, moved: Moved): Moved {
  if (typeof moved !== 'object' || moved === null || !('state' in moved))
    throw broken('move', `returns ${shown(moved)}`, 'an object with the next `state`');
  const { rewards = {}, refused = [] } = moved;
  for (const [seat, reward] of Object.entries(rewards)) {
    if (!seats.includes(seat))
      throw broken(
        'move',
        `pays the seat ${shown(seat)}, which nobody holds`,
        `seats among ${seats.join(', ')}`,
      );
    if (!Number.isFinite(reward)) throw broken('move', `pays ${seat} ${shown(reward)}`, 'a finite number');
  }
  if (!Array.isArray(refused) || refused.some((seat) => !seats.includes(seat)))
    throw broken('move', `refuses ${shown(refused)}`, `a list of seats among ${seats.join(', ')}`);
  return moved;
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80);

const broken = (where: string, what: string, expected: string): RollmeshError =>
  new RollmeshError('wrong-input', `game.${where.replace('toMove', 'to-move')}`, `\`${where}\` ${what}.`, {
    expected,
    next: 'Correct the game’s module.',
  });

/** Goes on with what the rules return, or ends the match by what is wrong with it. */
function guarded<T>(match: Match, where: string, ask: () => T, goOn: (value: T) => Match): Match {
  let value: T;
  try {
    value = ask();
  } catch (error) {
    const fault =
      error instanceof RollmeshError
        ? error
        : broken(
            where,
            `throws: ${error instanceof Error ? error.message : String(error)}`,
            'a value for every state and every text',
          );
    return { ...match, readings: [], fault };
  }
  return goOn(value);
}
