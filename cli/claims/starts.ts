/** Start policies of their own for the seeds of a claim: each is made by the same recipe of pretraining with another seed, and kept. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RollmeshError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/random.ts';
import { nodeArguments } from '../../mesh/installation.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';

export interface MadeStart {
  readonly folder: string;
  /** Of the weights' file. */
  readonly sha256: string;
}

/** Pretrains the start policy `name` with a seed, unless the state folder holds it. Throws `give-up` where pretraining fails. */
export async function startOfSeed(state: string, name: string, seed: number): Promise<MadeStart> {
  const folder = join(state, 'claims', 'starts', `${name}-${seed}`);
  if (!existsSync(folder)) {
    console.log(`${name}: pretrains a start with seed ${seed}`);
    const part = `${folder}.part`;
    await rm(part, { recursive: true, force: true });
    await mkdir(dirname(folder), { recursive: true });
    const args = ['pretrain', `--name=${name}`, `--seed=${seed}`, `--out=${part}`, '--threads=1'];
    const child = spawn(process.execPath, [...nodeArguments('cli/rollmesh'), ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [status] = await once(child, 'exit');
    if (status !== 0)
      throw new RollmeshError(
        'give-up',
        'claims.start',
        `Pretraining ${name} with seed ${seed} ended with ${status}.`,
        {
          next: `Run it alone: npm run pretrain -- --name ${name} --seed ${seed} --out DIR`,
        },
      );
    await rename(part, folder);
  }
  const { 'model.safetensors': weights } = await readPolicyFolder(folder);
  return { folder, sha256: sha256Hex(weights!) };
}
