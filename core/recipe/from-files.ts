/** How a recipe is made from files of a user's: what it reads in them, what may be set, and the function that makes it from plain data. */
import type * as v from 'valibot';
import type { Datum, Needs } from '../game/verbs.ts';
import type { Recipe } from './recipe.ts';
import type { BoundedModule } from './reward-function.ts';

/** What a line of a file is read as. */
export type Lines = 'questions' | 'conversations' | 'pairs' | 'ratings';

/** Reward modules by their hashes. */
export type RewardModules = Readonly<Record<string, BoundedModule>>;

export interface FromFiles {
  readonly reads: Lines;
  /** What every line must have. */
  readonly needs: readonly Datum[];
  /** What `--set` may change. */
  readonly settings: v.GenericSchema<unknown, object>;
  /** The plain data, settings and tasks in one value, from which every process makes the same recipe. */
  readonly data: v.GenericSchema<unknown, object>;
  /**
   * The recipe. Its name is derived from the data, so that other files or other settings are another run. Throws where the data does not fit the schema,
   * because another version of rollmesh or a person wrote it.
   */
  readonly make: (data: unknown, modules?: RewardModules) => Recipe;
  /** What it says to a policy, where a user can replace that. */
  readonly prompts?: Needs;
  /** Why a weighted sum of rewards cannot pay it; absent = one can. */
  readonly noSum?: string;
  /** Why its tasks cannot lie in the object store; absent = they can. */
  readonly notStored?: string;
}
