/** The tasks: chains of three operators, such as 3+4-9+2. Replace this by what your policy can speak; its parsers must be strict. */
import { arithmetic, drawUntil, heldOutTasks, isHeldOutKey, type Random, type TaskFamily } from 'rollmesh';

const NAME = 'three-operators';

const draw = (random: Random): string =>
  [0, 1, 2].reduce((task) => task + (random.bool() ? '+' : '-') + random.int(10), String(random.int(10)));

/** Whether a task is kept for evaluation: it follows from the task itself, so that no round can train on it. */
const isHeldOut = (task: string): boolean => isHeldOutKey(NAME, task) || arithmetic.isHeldOut(task);

export const tasks: TaskFamily = {
  // Prompts, grammar and oracle are those of arithmetic, which the start policy was taught: `writtenAs` in recipe.ts says so.
  ...arithmetic,
  name: NAME,
  random: draw,
  isHeldOut,
  heldOut: heldOutTasks(
    NAME,
    100,
    (random, heldOut) =>
      drawUntil(
        () => draw(random),
        (task) => isHeldOut(task) === heldOut,
      ),
    isHeldOut,
  ),
};
