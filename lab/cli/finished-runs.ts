/** Keeps the runs that have ended while a claim is played, so that it can be stopped and goes on where it was. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Summary, summary } from 'rollmesh/local';
import * as v from 'valibot';
import type { ArmRun } from './run-arms.ts';

const kept = v.object({ began: v.string(), summary });

/** The first part of the key of a registered run: the start of its registration's digest. */
export const keyOfDigest = (digest: string): string => digest.slice(0, 12);

const folderOf = (state: string, recipe: string) => join(state, 'claims', recipe);

/** How many runs of a registration have ended and are kept, on whichever commits they were played. */
export async function finishedRunsOf(state: string, recipe: string, digest: string): Promise<number> {
  const folder = folderOf(state, recipe);
  const keys = existsSync(folder) ? await readdir(folder) : [];
  const ofDigest = keys.filter((key) => key.startsWith(`${keyOfDigest(digest)}-`));
  const files = await Promise.all(ofDigest.map((key) => readdir(join(folder, key))));
  // On another commit the same run is played anew and kept in another folder.
  return new Set(files.flat().filter((name) => name.endsWith('.json'))).size;
}

export class FinishedRuns {
  readonly #folder: string;

  /** `state`: the folder of all local state. `key`: what runs must have in common, such as a registration's digest and a commit. */
  constructor(state: string, recipe: string, key: string) {
    this.#folder = join(folderOf(state, recipe), key);
  }

  #file({ arm, seed }: ArmRun): string {
    return join(this.#folder, `${arm.name.replaceAll(' ', '-')}-${seed}.json`);
  }

  async read(run: ArmRun): Promise<{ readonly began: string; readonly summary: Summary } | undefined> {
    const file = this.#file(run);
    return existsSync(file) ? v.parse(kept, JSON.parse(await readFile(file, 'utf8'))) : undefined;
  }

  async write(run: ArmRun, began: string, ended: Summary): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const file = this.#file(run);
    // A process that is killed while it writes leaves no half of a file under the name that is read.
    await writeFile(`${file}.part`, JSON.stringify({ began, summary: ended }));
    await rename(`${file}.part`, file);
  }

  async forget(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
