/** Tasks of earlier rounds that may stand in for proposals that were refused; they are the recipe state, which each version carries to the next. */
import * as v from 'valibot';
import { readState } from '../../core/recipe-state.ts';
import type { Proposals } from '../../core/schema/sample.ts';

/** Admitted and not yet forgotten tasks, oldest first. */
export const taskPool = v.object({ tasks: v.array(v.string()) });
export type TaskPool = Readonly<v.InferOutput<typeof taskPool>>;

export const poolOf = (recipeState: unknown): readonly string[] =>
  readState(taskPool, recipeState)?.tasks ?? [];

/** The pool after a round (from 1): its fresh tasks are added, and after every `reset` rounds nothing is left. */
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
