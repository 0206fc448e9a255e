/** Magnetic mirror descent: self-play in a zero-sum game that is held near an earlier version of itself, which moves on from time to time. */
import type { SeatedGame } from '../../core/game/seated-game.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Recipe, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { meanCentred, raw } from '../../core/rl/estimators/index.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { GAME_FIGURES } from '../../protocols/evaluate/games.ts';
import { KUHN_FIGURES } from '../../protocols/evaluate/kuhn.ts';
import type { GameRound } from '../../protocols/game-round.ts';
import {
  SEAT_FIGURES,
  type SeatCredit,
  seatFigures,
  seatItems,
  seatUpdates,
} from '../../protocols/seat-credit.ts';
import { trainedSolver } from '../../protocols/solver.ts';
import { FIXED_OPPONENT, PLAYERS, pinnedOpponent, zeroSumRound } from '../../protocols/zero-sum.ts';
import { kuhnPoker } from '../../worlds/games/seated.ts';

/** α: how strongly the magnet draws. */
const WEIGHT = 0.4;
/** The magnet moves to the newest version every so many versions. */
const PERIOD = 40;
/** The steps fall over so many rounds of four. */
const ROUNDS = 360;

const CREDIT: SeatCredit = { by: 'episode', compare: 'seat', within: 'deal' };

const learnFor =
  (seats: readonly string[], roles: Recipe['roles']) =>
  ({ round, groups, version }: RoundRecords): TrainingPlan => {
    const { variant } = round.settings;
    const magnet = version - (version % PERIOD);
    const items = seatItems(groups, seats, CREDIT, variant === 'no-baseline' ? raw : meanCentred);
    return {
      updates: seatUpdates(items, roles, {
        objective: { kind: 'reinforce' },
        aggregation: { mode: 'token-mean' },
        ...(variant === 'no-magnet'
          ? {}
          : { kl: { weight: WEIGHT, estimator: 'k2', reference: { set: MAIN_SET, version: magnet } } }),
      }),
      figures: { ...seatFigures(groups, seats), ...(variant === 'no-magnet' ? {} : { magnet }) },
    };
  };

/** The recipe over a game. */
function over(game: SeatedGame, more: Partial<GameRound>): WithoutSetup {
  const round = zeroSumRound({ games: [game], ...more });
  return { ...DESCRIBED, ...round, learn: learnFor(game.seats, round.roles) };
}

const DESCRIBED = {
  name: 'mmd',
  title: 'Self-play in a zero-sum game with a magnet that moves',
  paper: arXiv(
    '2206.05825',
    'A Unified Approach to Reinforcement Learning, Quantal Response Equilibria, and Two-Player Zero-Sum Games',
  ),
  summary:
    'One policy plays both seats of Kuhn poker against itself, and is held near an earlier version of itself, the magnet, which moves every 40 versions. Plain self-play circles an equilibrium; with the magnet it comes near one.',
  method: {
    setting:
      'Deals of Kuhn poker: three cards, one each, an ante and at most one bet. The start policy knows the rules and plays every second move at random.',
    roles:
      'Two seats, first and second, played by the newest version of one policy. Each reads its own card and the moves, and not the other’s card.',
    rewards:
      'A seat is paid what it wins or loses: one or two antes. A move that the rules refuse costs 0.1, and the third one the game.',
    credit:
      'A = R − mean R: the seat’s return less the mean return of the same seat in the episodes of the same deal. Every move of the seat in the episode has this advantage.',
    objective:
      'REINFORCE with α KL(π ‖ magnet) as a part of the loss, α = 0.4, by its estimator ½ (log π − log magnet)²; a mean over the tokens of each seat.',
    schedule:
      'Each round plays fresh episodes and trains once on all moves of both seats, in four steps, which fall linearly from 8e-4 to a twentieth of it over 360 rounds. The magnet is the version whose number is the largest multiple of 40 that is not above that of the policy.',
  },
  needsOfTasks: { datum: 'turns', which: 'a game of several seats' },
  differences: [
    'Kuhn poker with a policy that reads and writes text; the paper’s deep experiments are in larger poker, dice and board games.',
    'Steps of AdamW on the policy gradient stand for the mirror step, so that the KL to the last iterate and its step size are left out.',
    'The magnet moves by jumps, as in regularised Nash dynamics (Perolat et al., 2022), and not a little after each step; α is constant.',
    'Advantages are returns less a mean of their deal, in place of Q-values.',
  ],
  figures: {
    ...SEAT_FIGURES,
    ...GAME_FIGURES,
    ...KUHN_FIGURES,
    magnet: 'The version that was the magnet of the round.',
  },
  variants: {
    ...FIXED_OPPONENT,
    'no-baseline': 'the return itself is the advantage',
    'no-magnet': 'no KL: plain self-play',
  },
  sets: trainedSolver({
    learningRate: 8e-4,
    warmup: 5,
    schedule: 'linear',
    totalSteps: 4 * ROUNDS,
    floor: 0.05,
  }),
  bindings: pinnedOpponent,
  inGame: (game: SeatedGame) => over(game, {}),
} satisfies Partial<Recipe>;

export const mmd: WithoutSetup = over(kuhnPoker, PLAYERS);
