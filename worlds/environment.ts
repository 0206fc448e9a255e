/**
 * Turn-based worlds behind one interface: grids and games are pure functions from a state and an action to the next situation. They are not task
 * families: an episode has many turns, a reward of its own, and an observation after each answer.
 */
import { invalid, ok, type ParseResult } from '../core/recipe/task-family.ts';
import { STOP, withoutStop } from './worked.ts';

/** The situation after a move: who moves next, what that player sees, and what the last move earned. */
export interface Situation<State> {
  readonly state: State;
  /** Whose turn it is, from 0; meaningless once the episode is done. */
  readonly player: number;
  /** What this player may know, as compact text; never another player’s hidden cards. */
  readonly observation: string;
  /** Legal actions of this player; empty when done. */
  readonly actions: readonly string[];
  /** [players]: earned by the last move. */
  readonly rewards: readonly number[];
  readonly done: boolean;
  /** False when the last action was refused: it changed nothing but cost `ILLEGAL_REWARD`. */
  readonly legal: boolean;
}

export interface Environment<State> {
  readonly name: string;
  readonly players: number;
  /** Actions after which an episode is over at the latest, refused ones included. */
  readonly maxTurns: number;
  /** The same seed gives the same world and the same random events. Worlds that differ in their seed come from one side of the split. */
  reset(seed: string): Situation<State>;
  /** Defined for every action: one that is not legal changes nothing and costs a penalty. After the end nothing changes. */
  step(state: State, action: string): Situation<State>;
}

/** The reward of a refused action. */
export const ILLEGAL_REWARD = -0.1;
/** In a game for two players, this many refused actions lose the game; otherwise a player could delay it for ever and never lose. */
export const MAX_FAULTS = 3;
/** Actions one answer may hold. */
export const MAX_ACTIONS = 5;

const ANSWER = /^(?:<step>[^<>]{1,120})?<answer>([a-z0-9]+(?: [a-z0-9]+)*)$/;

/** What an agent or a player reads before its first turn. */
export const agentPrompt = (observation: string): string => `<solve>${observation}<sep>`;
export const writeActions = (actions: readonly string[]): string => `<answer>${actions.join(' ')}${STOP}`;

/** Strict parse of a turn: `(<step>thought)? <answer>action( action)*<eos>`, at most five actions. The environment decides whether each is legal. */
export function parseActions(text: string): ParseResult<readonly string[]> {
  const body = withoutStop(text);
  const match = body === null ? null : ANSWER.exec(body);
  if (!match) return invalid('off-grammar');
  const actions = match[1]!.split(' ');
  return actions.length <= MAX_ACTIONS ? ok(actions) : invalid('too-many-actions');
}

/**
 * Plays one completion: its actions in order, until the episode ends or another player is to move. Text that does not parse counts as one refused
 * action.
 */
export function playTurn<State>(
  environment: Environment<State>,
  situation: Situation<State>,
  text: string,
): Situation<State> {
  if (situation.done) return situation;
  const parsed = parseActions(text);
  let now = situation;
  const rewards = new Array<number>(environment.players).fill(0);
  let legal = true;
  for (const action of parsed.ok ? parsed.value : ['']) {
    if (now.done || now.player !== situation.player) break;
    now = environment.step(now.state, action);
    for (const [p, reward] of now.rewards.entries()) rewards[p] = rewards[p]! + reward;
    legal &&= now.legal;
  }
  return { ...now, rewards, legal };
}

/** Zero-sum rewards of a game for two, as seen from the winner. */
export const zeroSum = (winner: number, stake = 1): readonly [number, number] =>
  winner === 0 ? [stake, -stake] : [-stake, stake];
