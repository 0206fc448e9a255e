/**
 * A game of several seats of somebody's own, in plain functions. Recipes whose seats are whatever a game has play in it (`npx rollmesh recipe list --for
 * ./game.ts`).
 */
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import type { SeatedGame } from '../core/game/seated-game.ts';
import { deriveId, Random } from '../core/random.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { seatName } from '../core/schema/agent.ts';
import { name } from '../core/schema/sample.ts';
import { type Match, matchTask, moveOn, openMatch } from './games/match.ts';
import { STARTS } from './starts.ts';

/** A shipped policy that can be asked in messages. */
const DEFAULT_START = 'words';
/** As many deals are played to try a game. */
const TRIED = 32;
/** What a policy may write: nothing, too much, another language, half a format, and what games often ask for. */
const TEXTS = [
  '',
  ' ',
  '0',
  '1',
  '2',
  '7',
  'yes',
  'no',
  'pass',
  'take 3',
  '[1, "2',
  '{"a":',
  '9'.repeat(400),
  'ж\n\u0000\n',
];

const work = v.function('a function');
const positive = v.pipe(v.number('a whole number from 1'), v.safeInteger(), v.minValue(1));
const shape = v.strictObject({
  name,
  start: v.optional(name),
  seats: v.pipe(v.array(seatName), v.minLength(1, 'at least one seat')),
  maxTurns: positive,
  maxNew: positive,
  remembers: v.optional(v.literal(true)),
  tags: v.optional(v.literal(true)),
  together: v.optional(v.literal(true)),
  deal: work,
  toMove: work,
  view: work,
  move: work,
  score: v.optional(work),
});

const NEXT = 'Correct the game’s module; docs/games.md has one to begin with.';
const failed = (code: string, what: string, expected: string) =>
  wrongInput(`game.${code}`, what, { expected, next: NEXT });

/** Everything that seats were shown and paid in a trial, as text. */
function trial(game: SeatedGame, deal: number): { readonly match: Match; readonly told: string } {
  const random = new Random(`${game.name}/tried/${deal}`);
  let match = openMatch([game], matchTask(game, deriveId('tried', deal)));
  const told: unknown[] = [];
  while (match.readings.length && match.turns + match.readings.length <= game.maxTurns) {
    const moves = Object.fromEntries(match.readings.map(({ seat }) => [seat, random.pick(TEXTS)]));
    told.push(match.readings, moves);
    ({ match } = moveOn(match, moves));
  }
  return { match, told: JSON.stringify([told, match.paid]) };
}

function tryGame(game: SeatedGame): void {
  for (let deal = 0; deal < TRIED; deal++) {
    const { match, told } = trial(game, deal);
    if (match.fault) throw match.fault;
    const left = match.paid.flatMap((paid) => game.seats.filter((seat) => paid[seat] === null));
    if (left.length)
      throw failed(
        'rewards',
        `\`move\` pays some seats and leaves out ${[...new Set(left)].join(', ')}.`,
        'a reward for every seat, or none for anybody',
      );
    if (match.readings.length)
      throw failed(
        'endless',
        `A game in which seats write anything is not over after ${match.turns} moves.`,
        `an end within maxTurns (${game.maxTurns}), whatever is written: a seat could delay it for ever`,
      );
    if (trial(game, deal).told !== told)
      throw failed(
        'chance',
        'The same deal and the same moves came to something else when played again.',
        'no other source of chance than `random`',
      );
    for (const seat of game.seats) {
      const score = game.score?.(match.state, seat) ?? 0;
      if (!(score >= 0 && score <= 1))
        throw failed('score', `\`score\` returns ${score} for ${seat}.`, 'a number from 0 to 1');
    }
  }
}

/**
 * Returns the game itself, checked and tried. Throws `wrong-input`: `game.invalid` for a field that is missing, unknown or of another kind, and otherwise a
 * code that names what its functions did: `game.to-move`, `game.view`, `game.move`, `game.deal`, `game.rewards`, `game.endless`, `game.chance`, `game.score`.
 */
export function defineGame<State>(game: SeatedGame<State>): SeatedGame<State> {
  const parsed = v.safeParse(shape, game);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw wrongInput('game.invalid', `A game’s ${v.getDotPath(issue) ?? 'value'} is ${issue.received}.`, {
      expected: issue.expected === null ? issue.message : issue.expected,
      next: NEXT,
    });
  }
  if (new Set(game.seats).size < game.seats.length)
    throw failed(
      'invalid',
      `A game names a seat twice: ${game.seats.join(', ')}.`,
      'seats with names of their own',
    );
  if (game.together && !game.score)
    throw failed(
      'invalid',
      'A game is played together and has no `score`.',
      'a score, by which it is evaluated',
    );
  tryGame(game as SeatedGame);
  return game;
}

/** Is the default export of a module a game, and not a world? */
export const isGame = (value: unknown): value is SeatedGame =>
  typeof value === 'object' && value !== null && 'seats' in value;

/** What a recipe lacks for games of somebody's own; null where it plays no game but its own. */
export const lackedInGame = ({ inGame }: Pick<Recipe, 'inGame'>): string[] | null => (inGame ? [] : null);

/** A recipe in another game, under the name RECIPE-in-GAME. Throws `game.own` where the recipe plays no game but its own. */
export function inGame(recipe: Recipe, game: SeatedGame): Recipe {
  if (!recipe.inGame)
    throw wrongInput('game.own', `Recipe ${recipe.name} plays no game of somebody’s own.`, {
      expected: 'a recipe whose seats are whatever a game has',
      next: 'Run `npx rollmesh recipe list --for GAME` with the game’s module for the recipes that play it.',
    });
  const made = recipe.inGame(game);
  const { start = DEFAULT_START } = game;
  const known = Object.hasOwn(STARTS, start) ? STARTS[start] : undefined;
  // A start that was taught other roles is asked as whoever answers there.
  const speaksAs = known && (known.roles.includes('solver') ? 'solver' : known.roles[0]!);
  return {
    ...made,
    ...{ tasks: recipe.tasks, groupSize: recipe.groupSize },
    name: `${recipe.name}-in-${game.name}`,
    called: `${recipe.name} in ${game.name}`,
    startPolicy: start,
    writtenAs: known?.families[0] ?? game.name,
    ...(speaksAs && {
      roles: Object.fromEntries(
        Object.entries(made.roles).map(([role, settings]) => [role, { ...settings, speaksAs }]),
      ),
    }),
    ...(made.method && {
      method: {
        ...made.method,
        setting: `Deals of the game ${game.name}, which says in messages what each seat sees.`,
      },
    }),
  };
}
