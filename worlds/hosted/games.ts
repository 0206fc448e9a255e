/**
 * Games for two players, served to policies that others train: the policy has one seat, and the environment plays the other one. The world answers
 * each of its moves with the opponent's, until the policy is to move again or the game is over.
 */
import type {
  HostedEnvironment,
  HostedSplit,
  HostedTask,
  HostedTool,
} from '../../core/episodes/hosted-environment.ts';
import { Random } from '../../core/random.ts';
import type { Environment, Situation } from '../environment.ts';

const COUNTS: Readonly<Record<HostedSplit, number>> = { train: 10_000, test: 150 };

const MOVE: HostedTool = {
  name: 'move',
  description: 'Makes one move; the opponent moves after it.',
  input_schema: {
    type: 'object',
    properties: { action: { type: 'string', description: 'the move', pattern: '^[a-z0-9]{1,12}$' } },
    required: ['action'],
    additionalProperties: false,
  },
};

/** How a game ended, for the player who got this much by the last moves. */
const ending = (reward: number): string =>
  reward > 0 ? `You win ${reward}.` : reward < 0 ? `You lose ${-reward}.` : 'Nobody wins.';

export interface HostedGame<State> {
  readonly game: Environment<State>;
  readonly rules: string;
  /** The opponent's move; what it draws comes from these random numbers alone. */
  readonly opponent: (situation: Situation<State>, random: Random) => string;
}

interface Position<State> {
  readonly situation: Situation<State>;
  /** What the policy got since its last move, the move included. */
  readonly reward: number;
}

/** A game has no tasks to hold out: those of `test` are other games, dealt and answered by other random numbers. */
export function hostedGame<State>({ game, rules, opponent }: HostedGame<State>): HostedEnvironment {
  function task(split: HostedSplit, index: number): HostedTask {
    const seed = `hosted/${split}/${index}`;
    /** Everything that happens by chance follows from the task, so that a game is told again from its moves. */
    const begin = () => {
      const random = new Random(`${game.name}/${seed}`);
      const seat = random.int(2);
      const answered = (moved: Situation<State>): Position<State> => {
        let situation = moved;
        let reward = moved.rewards[seat]!;
        while (!situation.done && situation.player !== seat) {
          situation = game.step(situation.state, opponent(situation, random));
          reward += situation.rewards[seat]!;
        }
        return { situation, reward };
      };
      return { seat, answered, start: answered(game.reset(seed)) };
    };
    const { seat, start } = begin();
    return {
      taskView: { player: seat + 1 },
      prompt: [rules, start.situation.observation],
      after: (calls) => {
        const { answered, start: first } = begin();
        const { situation, reward } = calls.reduce(
          (now, { input }) => answered(game.step(now.situation.state, String(input.action))),
          first,
        );
        const { done, observation } = situation;
        return { text: done ? ending(reward) : observation, reward, finished: done };
      },
    };
  }
  return { name: game.name, tools: [MOVE], count: (split) => COUNTS[split], task };
}
