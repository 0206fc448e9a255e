/**
 * What a recipe carries from round to round. It travels as JSON in the version itself (memory.json), so that it is committed and rolled
 * back with the weights; the recipe's schema says what it is, on its way in and out.
 */
import type * as v from 'valibot';
import { RollmeshError } from './errors.ts';
import { parsed } from './schema/parse.ts';

/** A recipe's `state`: the schema of what its lessons leave and its stages read. */
export type StateSchema<T = unknown> = v.GenericSchema<unknown, T>;

/** What the last round left; undefined where it left nothing. Throws `give-up` where it is not what the recipe keeps. */
export function readState<T>(schema: StateSchema<T>, memory: unknown): T | undefined {
  return memory === undefined ? undefined : checked(schema, memory, 'What the version carries');
}

/** Throws `give-up` where a lesson leaves what the recipe's stages could not read again; nothing of such a round is published. */
export function checkState(
  { name, state }: { readonly name: string; readonly state?: StateSchema },
  memory: unknown,
): void {
  if (memory === undefined) return;
  if (state) checked(state, memory, `What a lesson of ${name} leaves`);
  else
    throw new RollmeshError(
      'give-up',
      'recipe.state',
      `A lesson of ${name} leaves a state, and the recipe declares none.`,
      {
        next: 'Give the recipe `state`: a valibot schema of what its lessons leave.',
      },
    );
}

const checked = <T>(schema: StateSchema<T>, memory: unknown, what: string): T =>
  parsed(
    schema,
    memory,
    (why) =>
      new RollmeshError('give-up', 'recipe.state', `${what} is not the state of this recipe: ${why}.`, {
        next: 'Go on with the version of rollmesh that wrote it, or begin a run with a new policy.',
      }),
  );
