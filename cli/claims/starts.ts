/** Start policies that claims are played with besides the shipped ones: made by the same recipe of pretraining with another seed or shape, and kept. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RollmeshError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/random.ts';
import { nodeArguments } from '../../mesh/installation.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { warmStarts } from '../../tasks/warm-starts.ts';
import type { ShapeName } from '../pretrain/shapes.ts';

export interface MadeStart {
  readonly folder: string;
  /** Of the weights' file. */
  readonly sha256: string;
}

/** Pretrains the start policy `name` with a seed, unless the state folder holds it. Throws `give-up` where pretraining fails. */
export const startOfSeed = (state: string, name: string, seed: number): Promise<MadeStart> =>
  madeStart(state, name, `seed ${seed}`, [`--seed=${seed}`, '--threads=1']);

/** The same in another shape, with those that it goes on from. */
export async function startOfShape(state: string, name: string, shape: ShapeName): Promise<MadeStart> {
  const { from } = warmStarts[name]!;
  const before = from === undefined ? [] : [`--from=${(await startOfShape(state, from, shape)).folder}`];
  return await madeStart(state, name, `shape ${shape}`, [`--shape=${shape}`, ...before]);
}

/** `what`: a word and what it is, such as `seed 3`. */
async function madeStart(
  state: string,
  name: string,
  what: string,
  options: readonly string[],
): Promise<MadeStart> {
  const folder = join(state, 'claims', 'starts', `${name}-${what.split(' ')[1]}`);
  if (!existsSync(folder)) {
    console.log(`${name}: pretrains a start with ${what}`);
    const part = `${folder}.part`;
    await rm(part, { recursive: true, force: true });
    await mkdir(dirname(folder), { recursive: true });
    const args = ['pretrain', `--name=${name}`, ...options, `--out=${part}`];
    const child = spawn(process.execPath, [...nodeArguments('cli/rollmesh'), ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [status] = await once(child, 'exit');
    if (status !== 0)
      throw new RollmeshError(
        'give-up',
        'claims.start',
        `Pretraining ${name} with ${what} ended with ${status}.`,
        {
          next: `Run it alone: npm run pretrain -- --name ${name} ${options.join(' ')} --out DIR`,
        },
      );
    await rename(part, folder);
  }
  const { 'model.safetensors': weights } = await readPolicyFolder(folder);
  return { folder, sha256: sha256Hex(weights!) };
}
