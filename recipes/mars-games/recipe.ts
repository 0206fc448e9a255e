/** MARS (published as MARSHAL): self-play in competing and cooperating games with credit by turn and by seat. */

import type { SeatedGame } from '../../core/game/seated-game.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { arXiv, type Recipe, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { GAME_FIGURES } from '../../protocols/evaluate/games.ts';
import { type GameRound, gameRound } from '../../protocols/game-round.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import {
  SEAT_FIGURES,
  type SeatCredit,
  seatFigures,
  seatItems,
  seatUpdates,
} from '../../protocols/seat-credit.ts';
import { trainedSolver } from '../../protocols/solver.ts';
import { hintGame } from '../../worlds/games/hint.ts';
import { gameParts } from '../../worlds/games/reading.ts';
import { kuhnPoker, noughtsAndCrosses } from '../../worlds/games/seated.ts';

const MARSHAL: SeatCredit = { by: 'turn', compare: 'seat', within: 'deal' };
const CREDIT: Readonly<Record<string, SeatCredit>> = {
  '': MARSHAL,
  pooled: { ...MARSHAL, compare: 'pooled' },
  episode: { ...MARSHAL, by: 'episode' },
  'episode-pooled': { ...MARSHAL, by: 'episode', compare: 'pooled' },
  discounted: { ...MARSHAL, gamma: 0.9 },
};

/** The recipe over some games. */
function over(round: GameRound): WithoutSetup {
  const seats = [...new Set(round.games.flatMap((game) => game.seats))];
  const shape = gameRound(round);
  return {
    ...DESCRIBED,
    ...shape,
    learn: ({ round: { settings }, groups }: RoundRecords): TrainingPlan => ({
      updates: seatUpdates(
        seatItems(groups, seats, CREDIT[settings.variant ?? '']!, grpo),
        shape.roles,
        ppoClip(),
      ),
      figures: seatFigures(groups, seats),
    }),
  };
}

const player = (description: string) => ({ description, speaksAs: 'player' });

const DESCRIBED = {
  name: 'mars-games',
  title: 'Self-play in competing and cooperating games, with credit by turn and seat',
  paper: arXiv(
    '2510.15414',
    'MARSHAL: Incentivizing Multi-Agent Reasoning via Self-Play with Strategic LLMs',
  ),
  summary:
    'One policy plays all seats of Kuhn poker, in which they compete, and of a hint game, in which they cooperate. A turn is credited with what its seat earned from it on, and compared with the turns of the same seat.',
  method: {
    setting:
      'Deals of Kuhn poker and of a hint game, half of each. In the hint game a guide knows which of three cards is meant and says one word, by which a guesser picks, three times. Tic-tac-toe is never trained on, and evaluated.',
    roles:
      'The seats of each game, played by the newest version of one policy. Each reads its own view of the game.',
    rewards:
      'What the game pays: the pot in poker, and 1 to both seats of the hint game for each card that is guessed. A move that the rules refuse costs 0.1.',
    credit:
      'The rewards of a seat’s turns are added up from the last one to the first. The sums are then standardised over all turns of the same seat in the episodes of one deal.',
    objective: 'A clipped policy gradient with ratios in [0.8, 1.2], a mean over the tokens of each seat.',
    schedule: 'Each round plays eight episodes of each deal and trains once on all of their turns.',
  },
  needsOfTasks: { datum: 'turns', which: 'a game of several seats' },
  differences: [
    'Three small games in a few tokens a move, one of them held out; no thoughts, and no transfer to mathematics or to systems of several agents.',
    'Sums are standardised within the episodes of one deal, as GRPO groups them.',
    'No KL penalty and no penalty for length, since a move has about three tokens.',
  ],
  figures: { ...SEAT_FIGURES, ...GAME_FIGURES },
  variants: {
    pooled: 'all seats of a deal are compared with each other',
    episode: 'every turn of a seat has the seat’s return of the episode',
    'episode-pooled': 'both: the return of the episode, compared over all seats',
    discounted: 'rewards to go are discounted by 0.9 from one turn of a seat to its next',
  },
  sets: trainedSolver({ warmup: 5 }),
  inGame: (game: SeatedGame) => over({ games: [game] }),
} satisfies Partial<Recipe>;

export const marsGames: WithoutSetup = over({
  games: [kuhnPoker, hintGame],
  heldOut: [noughtsAndCrosses],
  roles: {
    first: player('moves first'),
    second: player('moves second'),
    guide: player('says a word about the card that is meant'),
    guesser: player('picks a card'),
  },
  parts: gameParts,
});
