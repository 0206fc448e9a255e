/**
 * Demonstrations of players of all shipped games of several seats, for the warm start: one turn each. About half of the turns are random moves that the rules
 * allow, so that a policy that imitates them knows the rules and has much to learn.
 */
import type { SeatedGame } from '../../core/game/seated-game.ts';
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { agentPrompt, writeActions } from '../environment.ts';
import { type MeetBatch, MOVES, meet } from '../grids/meet.ts';
import { demonstrateGame } from './demonstrations.ts';
import { type HintState, hintGame, PICKS, tellingWords } from './hint.ts';
import { ADVICE, advisedSplit, bothAdvisedSplit, coinsIn, offered, type SplitState, split } from './split.ts';

/** A turn of an episode in which every seat moves as `choose` says. */
function oneTurn<State>(
  random: Random,
  game: SeatedGame<State>,
  choose: (state: State, seat: string, random: Random) => string,
): Demonstration {
  const turns: Demonstration[] = [];
  let state = game.deal(random);
  for (let movers = game.toMove(state); movers.length; movers = game.toMove(state)) {
    const moves: Record<string, string> = {};
    for (const seat of movers) {
      const completion = writeActions(choose(state, seat, random).split(' '));
      turns.push({
        role: seat === 'strategist' || seat === 'adviser' ? 'strategist' : 'player',
        prompt: agentPrompt(game.view(state, seat)),
        completion,
      });
      moves[seat] = completion.replace('<eos>', '');
    }
    ({ state } = game.move(state, moves));
  }
  return random.pick(turns);
}

/** The guide says either word of the card that is meant, the guesser picks a card that the hint fits; a tenth of both is at random. */
function hintMove({ rounds, played, hint }: HintState, seat: string, random: Random): string {
  const round = rounds[played]!;
  if (seat === 'guide')
    return random.bool(0.1) ? random.pick(tellingWords(round)) : random.pick([...round.cards[round.meant]!]);
  const fitting = PICKS.filter((_, i) => round.cards[i]!.includes(hint!));
  return random.pick(random.bool(0.1) || fitting.length === 0 ? PICKS : fitting);
}

/** An actor does what it is advised; without advice it takes what is better than its outside option, and asks for half or more. */
function splitMove(state: SplitState, seat: string, random: Random): string {
  if (seat === 'strategist' || seat === 'adviser') return random.pick(ADVICE);
  const [coins, standing] = [coinsIn(state), offered(state)];
  const outside = state.outside[state.offers.length % 2]!;
  const ask = (keep: number) => `ask ${Math.max(1, Math.min(9, coins - 1, keep))}`;
  switch (state.advice) {
    case 'hard':
      return ask(coins - 3);
    case 'fair':
      return ask(Math.ceil(coins / 2));
    case 'soft':
      return ask(outside + 1);
    case 'take':
      return standing === null ? ask(Math.ceil(coins / 2)) : 'take';
    default:
      return standing !== null && standing > outside && random.bool(0.9) ? 'take' : ask(5 + random.int(4));
  }
}

/** Towards a goal, or at random. */
function meetMove({ at, goals }: MeetBatch, seat: string, random: Random): string {
  if (random.bool(0.5)) return random.pick(MOVES);
  const own = at[seat === 'agent-1' ? 0 : 1]!;
  const goal = random.pick([...goals]);
  const [down, right] = [Math.floor(goal / 4) - Math.floor(own / 4), (goal % 4) - (own % 4)];
  const ways = [...(down ? [down < 0 ? 'u' : 'd'] : []), ...(right ? [right < 0 ? 'l' : 'r'] : [])];
  return ways.length ? random.pick(ways) : 's';
}

/** A player's turn in one of the games, or a strategist's. */
export function demonstrateTogether(random: Random): Demonstration {
  const way = random.weighted([0.3, 0.2, 0.3, 0.2]);
  if (way === 0) return demonstrateGame(random);
  if (way === 1) return oneTurn(random, hintGame, hintMove);
  if (way === 2)
    return oneTurn<SplitState>(random, random.pick([split, advisedSplit, bothAdvisedSplit]), splitMove);
  return oneTurn(random, meet, meetMove);
}
