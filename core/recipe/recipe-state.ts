/**
 * The recipe state, which a version carries from round to round. It is a JSON file of the version itself (memory.json), so that it is
 * committed and rolled back with the weights. The recipe's schema checks it when it is read and when it is written.
 */
import type * as v from 'valibot';
import { RollmeshError } from '../errors.ts';
import { parsed } from '../schema/parse.ts';

/** A recipe's `state`: the schema of what its training plans leave and its stages read. */
export type StateSchema<T = unknown> = v.GenericSchema<unknown, T>;

/** The recipe state that the last round left; undefined where it left none. Throws `give-up` where it does not fit the schema. */
export function readState<T>(schema: StateSchema<T>, recipeState: unknown): T | undefined {
  return recipeState === undefined ? undefined : checked(schema, recipeState, 'What the version carries');
}

/** Throws `give-up` where a training plan leaves a state that the recipe's stages could not read; such a round publishes nothing. */
export function checkState(
  { name, state }: { readonly name: string; readonly state?: StateSchema },
  recipeState: unknown,
): void {
  if (recipeState === undefined) return;
  if (state) checked(state, recipeState, `What a training plan of ${name} leaves`);
  else
    throw new RollmeshError(
      'give-up',
      'recipe.state',
      `A training plan of ${name} leaves a state, and the recipe declares none.`,
      {
        next: 'Give the recipe `state`: a valibot schema of what its training plans leave.',
      },
    );
}

const checked = <T>(schema: StateSchema<T>, recipeState: unknown, what: string): T =>
  parsed(
    schema,
    recipeState,
    (why) =>
      new RollmeshError('give-up', 'recipe.state', `${what} is not the state of this recipe: ${why}.`, {
        next: 'If another recipe trained this version, take its weights along under a new name: `npx rollmesh policy export NAME VERSION DIR`, then `import DIR --name NEW`. Otherwise go on with the version of rollmesh that wrote it, or begin a run with a new policy.',
      }),
  );
