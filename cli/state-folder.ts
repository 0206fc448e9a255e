/** The folder of all local state. It is marked as ours, so that `--fresh` can never delete a folder that is not. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { wrongInput } from '../core/errors.ts';

const MARKER = 'rollmesh-state';

/** Makes the folder where it is missing; with `fresh` empties it first. Returns its absolute path. */
export function openStateFolder(path: string, fresh: boolean): string {
  const folder = resolve(path);
  const ours = existsSync(join(folder, MARKER));
  const empty = !existsSync(folder) || readdirSync(folder).length === 0;
  if (!ours && !empty)
    throw wrongInput('state.folder', `The folder ${path} holds something else than rollmesh's state.`, {
      expected: 'a folder that rollmesh made, or one that is empty or missing',
      next: 'Choose another with --state DIR.',
    });
  if (fresh && ours) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, MARKER),
    'Local state of rollmesh: D1, R2, queues, logs. Safe to delete while nothing runs.\n',
  );
  return folder;
}
