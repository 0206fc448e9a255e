/** A robot that sees a room: what it is shown, what recipes of robots have in common, and the control that sees noise. */

import { imageText } from '../core/images/patches.ts';
import { deriveId } from '../core/random.ts';
import type { WithoutSetup } from '../core/recipe/recipe.ts';
import { role } from '../core/recipe/role.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import { drawnTasks } from '../worlds/drawn-tasks.ts';
import { gridTask, TURN_TOKENS } from '../worlds/grids/play.ts';
import { PUSH_CELLS } from '../worlds/grids/push.ts';
import { gridEnding, gridParts, gridTitle } from '../worlds/grids/reading.ts';
import { drawNoise, ROOM, seenBoard } from '../worlds/grids/seen.ts';
import { STOP } from '../worlds/worked.ts';
import { AGENT, evaluateGrid, rollGrid, type Sight } from './grid-agent.ts';

/** The variant in which the robot sees noise. */
export const BLIND = { blind: 'control: the robot sees noise in place of the room' } as const;

const sightIn = ({ round: { settings } }: Pick<RoundContext, 'round'>): Sight =>
  settings.variant === 'blind' ? (board) => imageText(drawNoise(board)) : seenBoard;

export const SEEN_FIGURES = {
  'push-greedy': 'Share of held-out rooms whose box reaches its place, greedy.',
  'push-sampled': 'Share of held-out rooms whose box reaches its place where turns are sampled.',
} as const;

/** What a recipe of a robot in rooms with a box has. */
export const seenRooms = {
  needsOfTasks: { datum: 'turns', which: 'an environment of several turns' },
  taskName: 'push',
  stop: STOP,
  showsImages: ROOM,
  propose: async (context) =>
    drawnTasks(context, (random) => gridTask('push', deriveId('world', random.uint32()))),
  rollOut: (context, tasks) => rollGrid(context, tasks, sightIn(context)),
  evaluate: (context) => evaluateGrid(context, ['push'], sightIn(context)),
  describe: { parts: (_, text) => gridParts(text), cells: PUSH_CELLS, title: gridTitle, ending: gridEnding },
} satisfies Partial<WithoutSetup>;

export const seenRoles = (placement?: 'turn') => ({
  [AGENT]: role('plays', TURN_TOKENS, { shown: 'pictures of the room', ...(placement ? { placement } : {}) }),
});
