/** The grid worlds, served to policies that others train. */
import type { HostedEnvironment, HostedSplit, HostedTool } from '../../core/episodes/hosted-environment.ts';
import { deriveId } from '../../core/random.ts';
import { MAX_ACTIONS, writeActions } from '../environment.ts';
import {
  EXAM_WORLDS,
  examWorld,
  GRID_ACTIONS,
  type GridKind,
  gridTask,
  MAX_GRID_TURNS,
  openGrid,
} from '../grids/play.ts';

const TRAINING_WORLDS = 10_000;

const COUNTS: Readonly<Record<HostedSplit, number>> = { train: TRAINING_WORLDS, test: EXAM_WORLDS };

const ACT: HostedTool = {
  name: 'act',
  description: `Makes one to ${MAX_ACTIONS} moves and shows the board after them.`,
  input_schema: {
    type: 'object',
    properties: {
      actions: {
        type: 'string',
        description: 'the moves with a space between any two, such as "u r"',
        pattern: `^[a-z0-9]+( [a-z0-9]+){0,${MAX_ACTIONS - 1}}$`,
        maxLength: 60,
      },
    },
    required: ['actions'],
    additionalProperties: false,
  },
};

const limits = `Call ${ACT.name} at most ${MAX_GRID_TURNS} times; ${GRID_ACTIONS} moves are all there are, and a word that is no move costs 0.1 and a move.`;
const RULES: Readonly<Record<GridKind, string>> = {
  lake: `On this lake p is you, g the goal, o a hole and . ice. Walk to the goal with the moves u, r, d and l (up, right, down, left). A hole ends the walk. ${limits}`,
  push: `In this room p is you, b a box, t the place where it belongs, w a wall and . floor; q is you on that place. Push the box there with the moves u, r, d and l (up, right, down, left); it cannot be pulled. ${limits}`,
};

/** The task of a world; the worlds of `test` are those that the recipe is evaluated on. */
const taskOf = (kind: GridKind, split: HostedSplit, index: number) =>
  split === 'test' ? examWorld(kind, index) : gridTask(kind, deriveId('grids/hosted', kind, index));

export const hostedGrid = (kind: GridKind): HostedEnvironment => ({
  name: kind,
  tools: [ACT],
  count: (split) => COUNTS[split],
  task: (split, index) => {
    const world = taskOf(kind, split, index);
    const game = openGrid(world, split === 'test');
    const start = game.start();
    return {
      taskView: { world },
      prompt: [RULES[kind], start.observation],
      after: (calls) => {
        const end = calls.reduce(
          (now, { input }) => game.turn(now, writeActions(String(input.actions).split(' '))),
          start,
        );
        const finished = end.done || calls.length >= MAX_GRID_TURNS;
        return { text: end.observation, reward: end.rewards[0]!, finished };
      },
    };
  },
});
