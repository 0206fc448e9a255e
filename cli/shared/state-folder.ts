/** The folder of all local state. A mark in it shows that it is rollmesh's, so that `--fresh` never deletes any other folder. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { wrongInput } from '../../core/errors.ts';

export const STATE_MARKER = 'rollmesh-state';
/** The folder of a state folder where `npx rollmesh start` writes the recipes that it makes from files of tasks or from `--set`, by their names. */
export const writtenRecipes = (stateDir: string): string => join(stateDir, 'recipes');

/** The folder's mode: no other account of the machine should read its databases. */
const OWNER_ONLY = 0o700;

const CHOOSE = 'Choose another with --state DIR.';

/**
 * Makes the folder where it is missing; with `fresh` empties it first. Nobody but its owner can look into it. Returns its absolute path.
 *
 * @throws RollmeshError `state.folder` where it is no folder, not ours, or cannot be written.
 */
export function openStateFolder(path: string, fresh: boolean): string {
  const folder = resolve(path);
  try {
    return prepare(path, folder, fresh);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    // Our own errors also have a code, and they say more than the operating system's.
    if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) throw error;
    throw wrongInput('state.folder', `The state folder ${path} cannot be written: ${code}.`, {
      expected: 'a folder that this user can write, on a disk with room',
      next: code === 'ENOSPC' ? `Make room, or: ${CHOOSE}` : CHOOSE,
      cause: error,
    });
  }
}

/** The default state folder of all commands. */
export const DEFAULT_STATE = '.rollmesh';
/** What a command that is proposed needs to find the same state. */
export const stateFlags = (state: string): string => (state === DEFAULT_STATE ? '' : ` --state ${state}`);

/**
 * For commands that look for something: the usual folder is made where it is missing, one that was named is not, since its name is
 * likely to be mistyped.
 *
 * @throws RollmeshError `state.missing`, or as `openStateFolder`.
 */
export function findStateFolder(path: string): string {
  if (path === DEFAULT_STATE || existsSync(path)) return openStateFolder(path, false);
  throw missing(path);
}

/**
 * For commands that only read: nothing is made or changed. Returns the absolute path, or undefined where the usual folder is not there yet.
 *
 * @throws RollmeshError `state.missing`, or as `openStateFolder`.
 */
export function seeStateFolder(path: string): string | undefined {
  const folder = resolve(path);
  if (existsSync(folder)) {
    refuseForeign(path, folder);
    return folder;
  }
  if (path === DEFAULT_STATE) return undefined;
  throw missing(path);
}

const missing = (path: string) =>
  wrongInput('state.missing', `There is no state folder ${path}.`, {
    expected: 'the folder of a mesh that has run',
    next: 'Check --state DIR; `npx rollmesh start --state DIR` and `npx rollmesh policy import` make one.',
  });

/** @returns whether rollmesh has made the folder; throws `state.folder` where it is a file, or holds something else */
function refuseForeign(path: string, folder: string): boolean {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw wrongInput('state.folder', `${path} is not a folder.`, {
      expected: 'a folder for all local state',
      next: CHOOSE,
    });
  const ours = existsSync(join(folder, STATE_MARKER));
  const empty = !existsSync(folder) || readdirSync(folder).length === 0;
  if (!ours && !empty)
    throw wrongInput('state.folder', `The folder ${path} holds something else than rollmesh's state.`, {
      expected: 'a folder that rollmesh made, or one that is empty or missing',
      next: CHOOSE,
    });
  return ours;
}

function prepare(path: string, folder: string, fresh: boolean): string {
  const ours = refuseForeign(path, folder);
  if (fresh && ours) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  // An earlier version of the program made it, or it existed and was empty.
  if ((statSync(folder).mode & 0o777) !== OWNER_ONLY) chmodSync(folder, OWNER_ONLY);
  writeFileSync(
    join(folder, STATE_MARKER),
    'Local state of rollmesh: D1, R2, queues, logs. Safe to delete while nothing runs.\n',
  );
  return folder;
}
