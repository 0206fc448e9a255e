/** Tasks of earlier rounds that may replace refused proposals. They are the recipe state, which each version carries to the next. */
import * as v from 'valibot';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { Proposals } from '../../core/schema/sample.ts';

/** Admitted tasks, oldest first, since the pool was last emptied. */
export const taskPool = v.object({ tasks: v.array(v.string()) });
export type TaskPool = Readonly<v.InferOutput<typeof taskPool>>;

export const poolOf = (recipeState: unknown): readonly string[] =>
  readState(taskPool, recipeState)?.tasks ?? [];

/** The pool after a round (from 1): the round's new tasks are added, and after every `reset` rounds it is emptied. */
export const poolAfter = (
  recipeState: unknown,
  round: number,
  { tasks }: Pick<Proposals, 'tasks'>,
  reset: number,
): TaskPool => ({
  tasks:
    round % reset === 0
      ? []
      : [
          ...poolOf(recipeState),
          ...tasks.filter(({ proposal }) => proposal !== null).map(({ task }) => task),
        ],
});
