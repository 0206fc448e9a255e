/** SPIRAL: self-play in zero-sum games with a running baseline for each game and seat. */
import * as v from 'valibot';
import type { SeatedGame } from '../../core/game/seated-game.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Recipe, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { raw } from '../../core/rl/estimators/index.ts';
import { GAME_FIGURES } from '../../protocols/evaluate/games.ts';
import { KUHN_FIGURES } from '../../protocols/evaluate/kuhn.ts';
import type { GameRound } from '../../protocols/game-round.ts';
import {
  runningRoleBaselines,
  SEAT_FIGURES,
  type SeatCredit,
  seatFigures,
  seatItems,
  seatUpdates,
} from '../../protocols/seat-credit.ts';
import { trainedSolver } from '../../protocols/solver.ts';
import { FIXED_OPPONENT, PLAYERS, pinnedOpponent, zeroSumRound } from '../../protocols/zero-sum.ts';
import { kuhnPoker, noughtsAndCrosses } from '../../worlds/games/seated.ts';

/** Of the running baselines. */
const DECAY = 0.95;

const state = v.object({ baselines: v.record(v.string(), v.number()) });

const CREDIT: SeatCredit = { by: 'episode', compare: 'seat', within: 'game' };

const learnFor =
  (seats: readonly string[], roles: Recipe['roles']) =>
  ({ round, groups, recipeState }: RoundRecords): TrainingPlan => {
    const { variant } = round.settings;
    const { estimator, after } = runningRoleBaselines(
      new Map(Object.entries(readState(state, recipeState)?.baselines ?? {})),
      DECAY,
    );
    const items = seatItems(
      groups,
      seats,
      CREDIT,
      variant === 'no-rae' ? (rewards) => raw(rewards) : estimator,
    );
    return {
      updates: seatUpdates(items, roles, {
        objective: { kind: 'reinforce' },
        aggregation: { mode: 'token-mean' },
      }),
      figures: {
        ...seatFigures(groups, seats),
        ...Object.fromEntries(Object.entries(after()).map(([key, value]) => [`baseline.${key}`, value])),
      },
      recipeState: { baselines: after() },
    };
  };

/** The recipe over some games. */
function over(games: readonly SeatedGame[], more: Partial<GameRound>): WithoutSetup {
  const seats = [...new Set(games.flatMap((game) => game.seats))];
  const round = zeroSumRound({ games, ...more });
  return { ...DESCRIBED, ...round, learn: learnFor(seats, round.roles) };
}

const DESCRIBED = {
  name: 'spiral',
  title: 'Self-play in zero-sum games with a baseline for each game and seat',
  paper: arXiv(
    '2506.24119',
    'SPIRAL: Self-Play on Zero-Sum Games Incentivizes Reasoning via Multi-Agent Multi-Turn Reinforcement Learning',
  ),
  summary:
    'One policy plays both seats of Kuhn poker and tic-tac-toe against itself. All moves of a seat are credited with what the seat won, less a running mean of what that seat wins in that game.',
  method: {
    setting:
      'Deals of Kuhn poker and empty boards of tic-tac-toe, half of each. The start policy knows the rules and plays every second move at random.',
    roles:
      'Two seats, first and second, played by the newest version of one policy. Each reads its own view of the game and never the other’s cards.',
    rewards:
      'A seat is paid what it wins or loses: one or two antes in poker, 1 for a line on the board. A move that the rules refuse costs 0.1, and the third one the game.',
    credit:
      'Role-conditioned advantage estimation: A = R − b with a baseline b for each game and seat, which follows the returns, b ← 0.95 b + 0.05 R. Every move of the seat in the episode has this advantage.',
    objective: 'REINFORCE, a mean over the tokens of each seat.',
    schedule: 'Each round plays fresh episodes and trains once on all moves of both seats.',
  },
  needsOfTasks: { datum: 'turns', which: 'a game of several seats' },
  differences: [
    'Kuhn poker and tic-tac-toe in a few tokens; no Simple Negotiation, no thoughts before a move.',
    'The paper’s headline, that play in games improves reasoning elsewhere, is out of reach of a policy of this size: exploitability in Kuhn poker, which is exact, is measured in its place.',
    'No length normalisation is removed, since all answers have about three tokens.',
    'The fixed opponent is version 0, in place of a random one or another model.',
  ],
  figures: {
    ...SEAT_FIGURES,
    ...GAME_FIGURES,
    baseline: 'Running mean of the seat’s returns in the game after the round, in the game’s own unit.',
    ...KUHN_FIGURES,
  },
  variants: {
    ...FIXED_OPPONENT,
    'no-rae': 'no baseline: the return itself is the advantage',
  },
  sets: trainedSolver({ warmup: 5 }),
  state,
  bindings: pinnedOpponent,
  inGame: (game: SeatedGame) => over([game], {}),
} satisfies Partial<Recipe>;

export const spiral: WithoutSetup = over([kuhnPoker, noughtsAndCrosses], PLAYERS);
