/**
 * Two agents on a grid of 4 x 4 cells who move at once and are to stand on the two goals at the same time. The environment is vectorised: one call steps a
 * batch of worlds in typed arrays, and a single world is a batch of one.
 */
import type { SeatedGame } from '../../core/game/seated-game.ts';
import { Random } from '../../core/random.ts';
import { parseActions } from '../environment.ts';
import { STOP } from '../worked.ts';

const SIDE = 4;
const CELLS = SIDE * SIDE;
export const AGENTS = 2;
/** Steps after which an episode is over. */
export const STEPS = 8;
/** What each step costs each agent, and what each gets when both goals are reached. */
export const STEP_COST = 0.05;
const GOAL_REWARD = 1;

/** Moves by their numbers: up, right, down, left, stay. */
export const MOVES = [...'urdls'];
const STAY = 4;

/** [CELLS * moves]: the cell that a move leads to; a wall leaves where one is. */
const LEADS = Uint8Array.from({ length: CELLS * MOVES.length }, (_, i) => {
  const [at, move] = [Math.floor(i / MOVES.length), i % MOVES.length];
  const [row, column] = [Math.floor(at / SIDE), at % SIDE];
  const [down, right] = [
    [-1, 0],
    [0, 1],
    [1, 0],
    [0, -1],
    [0, 0],
  ][move]! as [number, number];
  const [r, c] = [row + down, column + right];
  return r < 0 || r >= SIDE || c < 0 || c >= SIDE ? at : r * SIDE + c;
});

/** A batch of worlds. */
export interface MeetBatch {
  /** [batch, 2]: the cell of each agent. */
  readonly at: Uint8Array;
  /** [batch, 2]: the cells of the goals. */
  readonly goals: Uint8Array;
  /** [batch]: steps so far. */
  readonly steps: Uint8Array;
  /** [batch]: 0 running, 1 over without the goals, 2 over with both. */
  readonly over: Uint8Array;
}

/** Worlds from their seeds: four cells that differ, for two agents and two goals. */
export function resetMeet(seeds: readonly string[]): MeetBatch {
  const [at, goals] = [new Uint8Array(seeds.length * AGENTS), new Uint8Array(seeds.length * AGENTS)];
  for (const [b, seed] of seeds.entries()) {
    const cells = new Random(`meet/${seed}`).shuffle(Array.from({ length: CELLS }, (_, cell) => cell));
    at.set(cells.slice(0, AGENTS), b * AGENTS);
    goals.set(cells.slice(AGENTS, 2 * AGENTS), b * AGENTS);
  }
  return { at, goals, steps: new Uint8Array(seeds.length), over: new Uint8Array(seeds.length) };
}

/**
 * Steps every world that is not over, in place. actions [batch, 2]: numbers of moves; any other number stays. rewards [batch, 2] are written; they are 0 where
 * a world is over already. Two agents who want one cell, or each other's, stay.
 */
export function stepMeet(
  { at, goals, steps, over }: MeetBatch,
  actions: Uint8Array,
  rewards: Float64Array,
): void {
  for (let b = 0, i = 0; b < over.length; b++, i += AGENTS) {
    rewards[i] = rewards[i + 1] = 0;
    if (over[b]) continue;
    const [first, second] = [at[i]!, at[i + 1]!];
    const [p, q] = [
      LEADS[first * MOVES.length + Math.min(actions[i]!, STAY)]!,
      LEADS[second * MOVES.length + Math.min(actions[i + 1]!, STAY)]!,
    ];
    if (p !== q && !(p === second && q === first)) {
      at[i] = p;
      at[i + 1] = q;
    }
    steps[b]!++;
    const [g, h] = [goals[i]!, goals[i + 1]!];
    const isThere = (at[i] === g && at[i + 1] === h) || (at[i] === h && at[i + 1] === g);
    over[b] = isThere ? 2 : steps[b] === STEPS ? 1 : 0;
    rewards[i] = rewards[i + 1] = (isThere ? GOAL_REWARD : 0) - STEP_COST;
  }
}

/** The fewest steps of a single world to both goals; null where they are out of reach within an episode. Every joint move of all places is one batch. */
export function fewestSteps({ at, goals }: Pick<MeetBatch, 'at' | 'goals'>): number | null {
  const joint = MOVES.flatMap((_, first) => MOVES.map((_, second) => [first, second]));
  let places = [[...at]];
  for (let steps = 1; steps <= STEPS; steps++) {
    const tried = places.flatMap((place) => joint.map((moves) => ({ place, moves })));
    const batch: MeetBatch = {
      at: Uint8Array.from(tried.flatMap(({ place }) => place)),
      goals: Uint8Array.from(tried.flatMap(() => [...goals])),
      steps: new Uint8Array(tried.length),
      over: new Uint8Array(tried.length),
    };
    stepMeet(
      batch,
      Uint8Array.from(tried.flatMap(({ moves }) => moves)),
      new Float64Array(tried.length * AGENTS),
    );
    if (batch.over.includes(2)) return steps;
    const reached = tried.map((_, b) => [batch.at[AGENTS * b]!, batch.at[AGENTS * b + 1]!]);
    places = [...new Map(reached.map((place) => [place.join(), place])).values()];
  }
  return null;
}

/** The return of each agent where both take the shortest way. */
export function bestReturn(world: Pick<MeetBatch, 'at' | 'goals'>): number {
  const steps = fewestSteps(world);
  return steps === null ? -STEP_COST * STEPS : GOAL_REWARD - STEP_COST * steps;
}

/** What an agent sees: itself `p` (`q` on a goal), the other `o` (`e` on a goal), goals `g`. */
const seen = ({ at, goals }: MeetBatch, agent: number): string =>
  Array.from({ length: CELLS }, (_, cell) => {
    const isGoal = goals.includes(cell);
    if (at[agent] === cell) return isGoal ? 'q' : 'p';
    if (at[1 - agent] === cell) return isGoal ? 'e' : 'o';
    return isGoal ? 'g' : '.';
  })
    .join('')
    .replace(/(.{4})(?=.)/g, '$1\n');

const SEATS = ['agent-1', 'agent-2'] as const;

const moveNumber = (text: string | undefined): number => {
  const parsed = parseActions(`${text}${STOP}`);
  return parsed.ok && parsed.value.length === 1 ? MOVES.indexOf(parsed.value[0]!) : -1;
};

export const meet: SeatedGame<MeetBatch> = {
  name: 'meet',
  seats: SEATS,
  maxTurns: AGENTS * STEPS,
  maxNew: 5,
  tags: true,
  deal: (random) => resetMeet([String(random.uint32())]),
  toMove: ({ over }) => (over[0] ? [] : SEATS),
  view: (state, seat) => seen(state, SEATS.indexOf(seat as (typeof SEATS)[number])),
  move: ({ at, goals, steps, over }, moves) => {
    const state: MeetBatch = {
      at: Uint8Array.from(at),
      goals,
      steps: Uint8Array.from(steps),
      over: Uint8Array.from(over),
    };
    const numbers = SEATS.map((seat) => moveNumber(moves[seat]));
    const rewards = new Float64Array(AGENTS);
    stepMeet(state, Uint8Array.from(numbers.map((number) => (number < 0 ? STAY : number))), rewards);
    const refused = SEATS.filter((_, i) => numbers[i]! < 0);
    return {
      state,
      rewards: Object.fromEntries(SEATS.map((seat, i) => [seat, rewards[i]!])),
      ...(refused.length ? { refused } : {}),
    };
  },
  together: true,
  score: ({ over }) => Number(over[0] === 2),
};
