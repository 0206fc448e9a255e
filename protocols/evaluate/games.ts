/**
 * Held-out games: deals that were never trained on, and whole games where a recipe holds some out. Where seats play against each other, each in turn is
 * played by the evaluated version and the others by the version that the run's policy began as; where they play together, all by the evaluated one.
 */
import { playSeats } from '../../core/episodes/play-seats.ts';
import type { MatchedGames, SeatedGame, Side } from '../../core/game/seated-game.ts';
import { deriveId } from '../../core/random.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { shareOf, tallyOf } from '../../core/statistics/change.ts';
import {
  type Match,
  matchRules,
  matchTask,
  openMatch,
  returnsOf,
  whyUnpaid,
} from '../../worlds/games/match.ts';

export interface GameExam extends MatchedGames {
  /** Held-out deals of each game; default 50. */
  readonly deals?: number;
  /** Further figures. */
  readonly examine?: (context: EvaluationContext) => Promise<Readonly<Record<string, number>>>;
}

/** What an episode was worth for a team, from 0 to 1: by the game's own score, or 1 where it won and 1/2 where it drew. null where it did not end. */
export function scoreOf(match: Match, team: readonly string[]): number | null {
  if (whyUnpaid(match)) return null;
  const { game, state } = match;
  if (game.score) return mean(team.map((seat) => game.score!(state, seat)));
  const returns = Object.entries(returnsOf(match));
  if (returns.some(([, value]) => value === null)) return null;
  const best = (isOurs: boolean) =>
    Math.max(...returns.flatMap(([seat, value]) => (team.includes(seat) === isOurs ? [value!] : [])));
  return best(true) > best(false) ? 1 : best(true) === best(false) ? 0.5 : 0;
}

export interface PlayedMatch {
  readonly match: Match;
  readonly team: readonly string[];
  readonly score: number | null;
  /** Moves of the seats that were held, and how many of them the rules allow. */
  readonly moves: number;
  readonly legal: number;
}

const sidesOf = (game: SeatedGame): readonly Side[] =>
  game.together ? [{ holds: game.seats }] : game.seats.map((seat) => ({ holds: [seat] }));

/** Plays deals of a game from every side: `own` holds it, and `others` the seats that are left. */
export async function playDeals(
  game: SeatedGame,
  tasks: readonly string[],
  { own, others }: { readonly own: RoundContext; readonly others: RoundContext },
  sides: NonNullable<MatchedGames['sides']> = sidesOf,
): Promise<PlayedMatch[]> {
  const asked = tasks.flatMap((task) => sides(game).map((side) => ({ task, ...side })));
  const beginnings = asked.map(({ task, holds }) => ({
    seats: Object.fromEntries(
      game.seats.map((seat) => {
        const id = deriveId(task, 'evaluation', ...holds, seat);
        return [seat, { role: seat, id, by: holds.includes(seat) ? own : others }];
      }),
    ),
    world: openMatch([game], task),
  }));
  const played = await playSeats(own, beginnings, matchRules(game.maxTurns));
  return played.map(({ world: match, turns }, i) => {
    const { holds, team = holds } = asked[i]!;
    const mine = turns.filter(({ role }) => holds.includes(role));
    const legal = mine.filter(({ outcome }) => outcome === 'ok').length;
    return { match, team, score: scoreOf(match, team), moves: mine.length, legal };
  });
}

/** The deals of a game that are held out, or as many of the other side, for pilots. */
export const examDeals = (game: SeatedGame, heldOut: boolean, count: number): string[] =>
  Array.from({ length: count }, (_, i) =>
    matchTask(game, deriveId(heldOut ? 'deal/held-out' : 'deal/pilot', game.name, i)),
  );

/** Thirds and halves of a score have whole points. */
const POINTS = 30;

export async function evaluateGames(
  context: EvaluationContext,
  { games, deals = 50, examine, sides }: GameExam,
): Promise<Evaluation> {
  const { heldOut, most } = context.evaluationTasks;
  const figures: Record<string, number> = {};
  const scores: number[] = [];
  const all: PlayedMatch[] = [];
  for (const game of games) {
    const tasks = examDeals(game, heldOut, Math.min(deals, most));
    const played = await playDeals(game, tasks, { own: context, others: context.atStart }, sides);
    const ended = played.filter(({ score }) => score !== null);
    all.push(...played);
    scores.push(...ended.map(({ score }) => score!));
    figures[`score.${game.name}`] = mean(ended.map(({ score }) => score!));
    figures[`return.${game.name}`] = mean(
      ended.map(({ match, team }) => mean(team.map((seat) => returnsOf(match)[seat] ?? 0))),
    );
    figures[`turns.${game.name}`] = mean(played.map(({ match }) => match.turns));
    if (ended.length < played.length) figures[`unended.${game.name}`] = 1 - ended.length / played.length;
  }
  const sum = (count: (one: PlayedMatch) => number) => all.reduce((total, one) => total + count(one), 0);
  const tallies = {
    accuracy: tallyOf(
      scores.map((score) => Math.round(POINTS * score)),
      POINTS,
    ),
  };
  return evaluation(
    {
      n: scores.length,
      accuracy: shareOf(tallies.accuracy),
      formatRate:
        sum(({ legal }) => legal) /
        Math.max(
          1,
          sum(({ moves }) => moves),
        ),
      tallies,
    },
    { ...figures, ...(await examine?.(context)) },
  );
}

/** What the figures of `evaluateGames` mean. */
export const GAME_FIGURES = {
  score:
    'Mean score in held-out episodes of the game, 0 to 1: 1 for each that is won and 1/2 for a draw, or the game’s own score. Where seats play against each other, version 0 holds the other ones.',
  return: 'Mean return of the evaluated version in held-out episodes of the game, in the game’s own unit.',
  turns: 'Mean number of moves in a held-out episode of the game, over all seats.',
  unended: 'Share of the held-out episodes of the game that were not over at their limit.',
} as const;
