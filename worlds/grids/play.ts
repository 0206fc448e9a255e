/**
 * Grid worlds as an agent plays them: what it reads, what it may write, and the outcome of an episode. A task names a world by its kind and seed,
 * `lake 1f…`; everything else follows from it and from what was written.
 */

import { wrongInput } from '../../core/errors.ts';
import { deriveId } from '../../core/random.ts';
import { type Environment, parseActions, playTurn, type Situation } from '../environment.ts';
import { lake, lakeDistance } from './lake.ts';
import { boxPush, pushDistance } from './push.ts';

/** Turns an agent may take: five boards of the larger kind and their answers fit a context of 256 tokens. */
export const MAX_GRID_TURNS = 5;
/** Actions of an episode, refused ones included. */
export const GRID_ACTIONS = 10;
/** `<answer>`, five actions separated by spaces, the stop token, and one token more, by which an answer that is too long is noticed. */
export const TURN_TOKENS = 12;
/** Moves of a box world's shortest solution. */
export const PUSH_DISTANCE = [2, 4] as const;

/** What it reads after each of its turns. */
export const agentSees = (observation: string): string => `${observation}<sep>`;

/** A world whose state only it can read. */
export interface GridGame {
  readonly start: () => Situation<unknown>;
  readonly turn: (situation: Situation<unknown>, text: string) => Situation<unknown>;
  /** Actions taken so far, refused ones included. */
  readonly taken: (situation: Situation<unknown>) => number;
  /** Fewest moves from here to the goal, 0 at it; null when it is out of reach. */
  readonly distance: (situation: Situation<unknown>) => number | null;
}

const gameOf = <State extends { readonly turns: number }>(
  environment: Environment<State>,
  seed: string,
  distance: (state: State) => number | null,
): GridGame => ({
  start: () => environment.reset(seed),
  turn: (situation, text) => playTurn(environment, situation as Situation<State>, text),
  taken: ({ state }) => (state as State).turns,
  distance: ({ state }) => distance(state as State),
});

const KINDS = {
  lake: (heldOut: boolean, seed: string) =>
    gameOf(lake({ maxTurns: GRID_ACTIONS, heldOut }), seed, ({ map, at }) => lakeDistance(map, at)),
  push: (heldOut: boolean, seed: string) =>
    gameOf(boxPush({ distance: PUSH_DISTANCE, maxTurns: GRID_ACTIONS, heldOut }), seed, pushDistance),
};
export type GridKind = keyof typeof KINDS;

export const gridTask = (kind: GridKind, seed: string): string => `${kind} ${seed}`;

/** The game that a task names. Throws `wrong-input` for any other text. */
export function openGrid(task: string, heldOut = false): GridGame {
  const [, kind = '', seed = ''] = /^(lake|push) ([0-9a-f]+)$/.exec(task) ?? [];
  if (kind === 'lake' || kind === 'push') return KINDS[kind](heldOut, seed);
  throw wrongInput('tasks.grid', `${JSON.stringify(task)} names no grid world.`, {
    expected: '"lake SEED" or "push SEED", the seed in hexadecimal digits',
  });
}

export interface GridOutcome {
  /** Sum of the episode's rewards. */
  readonly total: number;
  readonly success: boolean;
  /** Share of turns that parse. */
  readonly wellFormed: number;
  readonly turns: number;
  /** Actions taken, refused ones included. */
  readonly actions: number;
}

/** The outcome of an episode of these turns: the same texts give the same outcome. */
export function gridOutcome(game: GridGame, texts: readonly string[]): GridOutcome {
  let now = game.start();
  let total = 0;
  let best = 0;
  for (const text of texts) {
    now = game.turn(now, text);
    const reward = now.rewards[0]!;
    total += reward;
    best = Math.max(best, reward);
  }
  return {
    total,
    // Reaching the goal earns 1 and ends the episode; refused actions before it in one turn cost at most .4.
    success: best > 0.5,
    wellFormed: texts.filter((text) => parseActions(text).ok).length,
    turns: texts.length,
    actions: game.taken(now),
  };
}

/** What is seen of an episode of these texts: before each of them, and after the last. */
export function boardsOf(game: GridGame, texts: readonly string[]): string[] {
  let now = game.start();
  const boards = [now.observation];
  for (const text of texts) {
    now = game.turn(now, text);
    boards.push(now.observation);
  }
  return boards;
}

/** Fewest moves to the goal before each of these texts, and after the last; null where it is out of reach. */
export function distancesOf(game: GridGame, texts: readonly string[]): (number | null)[] {
  let now = game.start();
  const distances = [game.distance(now)];
  for (const text of texts) {
    now = game.turn(now, text);
    distances.push(game.distance(now));
  }
  return distances;
}

/** Which turns of these texts bring the goal nearer: [turns]. */
export function usefulTurns(game: GridGame, texts: readonly string[]): boolean[] {
  const distances = distancesOf(game, texts);
  return texts.map((_, t) => {
    const [before, after] = [distances[t]!, distances[t + 1]!];
    return after !== null && before !== null && after < before;
  });
}

/** Worlds of each kind in an evaluation. */
export const EXAM_WORLDS = 150;

/** `index`: from 0. */
export const examWorld = (kind: GridKind, index: number): string =>
  gridTask(kind, deriveId('grids/held-out', kind, index));
