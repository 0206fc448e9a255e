/**
 * Demonstrations of an agent on lakes and boxes, for the warm start: one turn each, after the whole episode so far. They are imperfect on purpose:
 * most agents stray from the shortest way, so that a policy that imitates them reaches the goal only sometimes.
 */
import { Random } from '../../core/random.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { agentPrompt, type Environment, MAX_ACTIONS, type Situation, writeActions } from '../environment.ts';
import { MOVE_NAMES, type Move, neighbour } from './board.ts';
import { type Lake, lake, lakeDistance } from './lake.ts';
import { agentSees, GRID_ACTIONS, MAX_GRID_TURNS, PUSH_DISTANCE } from './play.ts';
import { bestPushMoves, boxPush } from './push.ts';

/** Share of agents that stray, and the probability with which each of their moves is a random one. */
const STRAY_SHARE = 0.8;
const STRAY = 0.6;

/** One turn: its actions, and the situation after them. */
function demonstrateTurn<State>(
  random: Random,
  environment: Environment<State>,
  from: Situation<State>,
  stray: number,
  best: (state: State) => readonly Move[],
): { actions: readonly Move[]; to: Situation<State> } {
  const count = 1 + random.int(MAX_ACTIONS);
  const actions: Move[] = [];
  let to = from;
  while (actions.length < count && !to.done) {
    const good = best(to.state);
    const action = random.pick(good.length === 0 || random.bool(stray) ? MOVE_NAMES : good);
    actions.push(action);
    to = environment.step(to.state, action);
  }
  return { actions, to };
}

/** All turns of one episode in the world of that seed. `see`: how an observation is shown. */
function demonstrateEpisode<State>(
  random: Random,
  environment: Environment<State>,
  seed: string,
  stray: number,
  best: (state: State) => readonly Move[],
  see: (observation: string) => string = (observation) => observation,
): Demonstration[] {
  let now = environment.reset(seed);
  let prompt = agentPrompt(see(now.observation));
  const turns: Demonstration[] = [];
  while (!now.done && turns.length < MAX_GRID_TURNS) {
    const { actions, to } = demonstrateTurn(random, environment, now, stray, best);
    const completion = writeActions(actions);
    turns.push({ role: 'agent', prompt, completion });
    prompt += completion + agentSees(see(to.observation));
    now = to;
  }
  return turns;
}

const LAKE_SIDE = 4;
const LAKE = lake({ maxTurns: GRID_ACTIONS });
const PUSH = boxPush({ distance: PUSH_DISTANCE, maxTurns: GRID_ACTIONS });
/** The moves that bring the goal nearer by one where nothing slips. */
function bestOnIce({ map, at }: Lake): Move[] {
  const distance = lakeDistance(map, at);
  return MOVE_NAMES.filter((move) => {
    const to = neighbour(LAKE_SIDE, at, move);
    return distance !== null && to !== null && map[to] !== 'o' && lakeDistance(map, to) === distance - 1;
  });
}

const drawEpisode = (random: Random) => ({
  stray: random.bool(STRAY_SHARE) ? STRAY : 0,
  seed: `demonstration/${random.uint32()}`,
});

/** One turn of an episode with a box, which is shown as `see` says. */
export function demonstratePush(random: Random, see: (observation: string) => string): Demonstration {
  const { stray, seed } = drawEpisode(random);
  return random.pick(demonstrateEpisode(random, PUSH, seed, stray, bestPushMoves, see));
}

/** One turn of an episode on a lake or, as often, with a box; never in a held-out world. */
export function demonstrateGrid(random: Random): Demonstration {
  const onLake = random.bool();
  const { stray, seed } = drawEpisode(random);
  return random.pick(
    onLake
      ? demonstrateEpisode(random, LAKE, seed, stray, bestOnIce)
      : demonstrateEpisode(random, PUSH, seed, stray, bestPushMoves),
  );
}

/** An episode that goes a shortest way in the box world of a task, which is not a held-out one; how many moves a turn has is drawn. */
export const expertPush = (task: string): Demonstration[] =>
  demonstrateEpisode(new Random(`expert/${task}`), PUSH, task.split(' ')[1]!, 0, bestPushMoves);
