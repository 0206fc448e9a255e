/**
 * Demonstrations of a player of Kuhn poker and tic-tac-toe, for the warm start: one turn each, in situations that such players reach. Half of the
 * turns are random, so that a policy that imitates them knows the rules and can be beaten.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { agentPrompt, type Environment, type Situation, writeActions } from '../environment.ts';
import { kuhn } from './kuhn.ts';
import { kuhnEquilibrium } from './kuhn-strategy.ts';
import { bestMoves, ticTacToe } from './tic-tac-toe.ts';

/** Probability that a turn is played at random. */
const RANDOM = 0.5;
/** How often an equilibrium's jack bluffs: anything from 0 to 1/3. */
const BLUFF = 1 / 6;

/** A turn of a game between two such players, each as likely. */
function oneTurn<State>(
  random: Random,
  environment: Environment<State>,
  good: (situation: Situation<State>) => string,
): Demonstration {
  const turns: Demonstration[] = [];
  let now = environment.reset(`demonstration/${random.uint32()}`);
  while (!now.done) {
    const action = random.bool(RANDOM) ? random.pick(now.actions) : good(now);
    turns.push({ role: 'player', prompt: agentPrompt(now.observation), completion: writeActions([action]) });
    now = environment.step(now.state, action);
  }
  return random.pick(turns);
}

export const demonstrateGame = (random: Random): Demonstration =>
  random.bool(0.2)
    ? oneTurn(random, kuhn, ({ observation }) =>
        random.bool(kuhnEquilibrium(BLUFF)[observation]!) ? 'bet' : 'pass',
      )
    : oneTurn(random, ticTacToe, ({ state }) => random.pick(bestMoves(state.cells)));
