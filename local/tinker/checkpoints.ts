/** Checkpoints of models as folders: what is saved is whole or not there, and a server that starts again finds it. */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { writeArchive } from '../../learner/tinker/archive.ts';
import type { SavedModel } from '../../learner/tinker/served-model.ts';
import { type Address, addressOf } from '../../learner/tinker/wire.ts';
import { peftFiles } from '../../model/peft.ts';

const about = v.object({ base: v.string(), rank: v.number(), time: v.string(), bytes: v.number() });
export type Checkpoint = v.InferOutput<typeof about>;

const [ABOUT, ADAPTER, OPTIMIZER] = ['checkpoint.json', 'main.adapter.safetensors', 'optimizer.safetensors'];

/** Colons cannot be in names of files everywhere, and percent signs are in no address. */
const fileOf = (part: string): string => part.replaceAll(':', '%');
const partOf = (file: string): string => file.replaceAll('%', ':');

export class Checkpoints {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  #of({ run, kind, name }: Address): string {
    return join(this.#folder, ...[run, kind, name].map(fileOf));
  }

  /** Writes a checkpoint; those for sampling without the optimiser. @throws RollmeshError `tinker.checkpoint` where there is one of that address */
  async write(
    at: Address,
    { adapter, optimizer }: SavedModel,
    of: { base: string; rank: number },
    overwrite: boolean,
  ): Promise<void> {
    const folder = this.#of(at);
    if (existsSync(folder) && !overwrite)
      throw wrongInput('tinker.checkpoint', `There is a checkpoint ${addressOf(at)} already.`, {
        expected: 'another name, or overwrite',
      });
    const stage = join(this.#folder, `.${randomUUID()}`);
    await mkdir(stage, { recursive: true });
    const info: Checkpoint = { ...of, time: new Date().toISOString(), bytes: adapter.length };
    await writeFile(join(stage, ADAPTER), adapter);
    if (at.kind === 'weights') await writeFile(join(stage, OPTIMIZER), optimizer);
    await writeFile(join(stage, ABOUT), JSON.stringify(info));
    await mkdir(join(folder, '..'), { recursive: true });
    // The old one goes when the new one is whole.
    await rm(folder, { recursive: true, force: true });
    await rename(stage, folder);
  }

  /** @throws RollmeshError `tinker.no-checkpoint` of kind `missing-version` */
  async about(at: Address): Promise<Checkpoint> {
    const file = join(this.#of(at), ABOUT);
    if (!existsSync(file))
      throw new RollmeshError(
        'missing-version',
        'tinker.no-checkpoint',
        `There is no checkpoint ${addressOf(at)}.`,
      );
    return v.parse(about, JSON.parse(await readFile(file, 'utf8')));
  }

  async adapter(at: Address): Promise<Uint8Array> {
    await this.about(at);
    return new Uint8Array(await readFile(join(this.#of(at), ADAPTER)));
  }

  /** The optimiser's state; undefined for a checkpoint that was saved for sampling. */
  async optimizer(at: Address): Promise<Uint8Array | undefined> {
    return at.kind === 'weights' ? new Uint8Array(await readFile(join(this.#of(at), OPTIMIZER))) : undefined;
  }

  /** A tar of PEFT's two files. */
  async archive(at: Address): Promise<Uint8Array> {
    const { base } = await this.about(at);
    return writeArchive(peftFiles(await this.adapter(at), base).files);
  }

  /** The checkpoints of a run, in the order of their times. */
  async list(run: string): Promise<readonly (Address & Checkpoint)[]> {
    const found: (Address & Checkpoint)[] = [];
    for (const kind of ['weights', 'sampler_weights'] as const) {
      const folder = join(this.#folder, fileOf(run), kind);
      for (const file of existsSync(folder) ? await readdir(folder) : []) {
        const at = { run, kind, name: partOf(file) };
        found.push({ ...at, ...(await this.about(at)) });
      }
    }
    return found.sort((a, b) => (a.time < b.time ? -1 : 1));
  }

  async remove(at: Address): Promise<void> {
    await this.about(at);
    await rm(this.#of(at), { recursive: true });
  }
}
