/**
 * A game of several seats, as plain functions: its state says who moves. What an episode came to follows from its deal and from the texts of its moves,
 * so that a judge and an audit tell it again from the record.
 */
import type { Random } from '../random.ts';

export interface SeatedGame<State = unknown> {
  readonly name: string;
  /** The shipped policy that runs begin from where no --policy is named. Default `words`, which is asked in messages (in the package rollmesh-starts). */
  readonly start?: string;
  /** The seats in their order. Each is a role of the runs that are played. */
  readonly seats: readonly string[];
  /** Moves of an episode at most, over all seats; one that goes on then is missing data. */
  readonly maxTurns: number;
  /** Longest move in tokens, its end included. */
  readonly maxNew: number;
  /** A seat's prompt goes on with all that it has read and written. Absent: it reads the view of the state alone, which then has to say everything. */
  readonly remembers?: true;
  /** It is asked in the tags of the shipped small policies. Absent: by the chat template of whatever policy plays. */
  readonly tags?: true;
  /** The state that an episode begins with; `random` is the only source of chance. */
  deal(random: Random): State;
  /** The seats that move now: one, or several that do not see each other's moves. None: the game is over. */
  toMove(state: State): readonly string[];
  /** What a seat reads before its move. */
  view(state: State, seat: string): string;
  /** What comes of the moves of all who were to move, by seat. Any text may come: a move that the rules do not allow is refused, and is no exception. */
  move(state: State, moves: Readonly<Record<string, string>>): Moved<State>;
  /** The seats play together, for one reward. Absent: they play against each other. */
  readonly together?: true;
  /** What an ended episode was worth for a seat, as a share of the best, 0 to 1. Default: 1 for whoever was paid most, 1/2 for a draw. */
  score?(state: State, seat: string): number;
}

export interface Moved<State = unknown> {
  readonly state: State;
  /** What the moves paid, to every seat; absent where they paid nothing to anybody. An episode is worth the sum. */
  readonly rewards?: Readonly<Record<string, number>>;
  /** The seats whose move was refused. */
  readonly refused?: readonly string[];
}

/** Some seats that a version holds while others are left to another. */
export interface Side {
  readonly holds: readonly string[];
  /** The seats whose outcome counts; default those that it holds. */
  readonly team?: readonly string[];
}

/** The games that versions can meet in. */
export interface MatchedGames {
  readonly games: readonly SeatedGame[];
  /** The sides that a version takes one after the other; default each seat alone. */
  readonly sides?: (game: SeatedGame) => readonly Side[];
}
