/** Start policies that claims are played with besides the shipped ones: the same warm start with another seed, or the same policy in a wider shape. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RollmeshError } from 'rollmesh';
import {
  configOf,
  type ModelConfig,
  readPolicyFolder,
  readSafetensors,
  readStart,
  SHAPES,
  type ShapeName,
  toHfConfig,
  widened,
  writeSafetensors,
} from 'rollmesh/local';
import { sha256Hex } from '../rule/digest.ts';

/** The command line of the package. */
const COMMAND = fileURLToPath(import.meta.resolve('rollmesh/cli'));

export interface MadeStart {
  readonly folder: string;
  /** Of the weights' file. */
  readonly sha256: string;
}

/** Pretrains the start policy `name` with a seed, unless the state folder holds it. Throws `give-up` where pretraining fails. */
export async function startOfSeed(state: string, name: string, seed: number): Promise<MadeStart> {
  const options = [`--seed=${seed}`, '--threads=1'];
  const folder = join(state, 'claims', 'starts', `${name}-${seed}`);
  if (!existsSync(folder)) {
    console.log(`${name}: pretrains a start with seed ${seed}`);
    const part = `${folder}.part`;
    await rm(part, { recursive: true, force: true });
    await mkdir(dirname(folder), { recursive: true });
    const args = ['pretrain', `--name=${name}`, ...options, `--out=${part}`];
    const child = spawn(process.execPath, [...process.execArgv, COMMAND, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [status] = await once(child, 'exit');
    if (status !== 0)
      throw new RollmeshError(
        'give-up',
        'claims.start',
        `Pretraining ${name} with seed ${seed} ended with ${status}.`,
        {
          next: `Run it alone: rollmesh pretrain --name ${name} ${options.join(' ')} --out DIR`,
        },
      );
    await rename(part, folder);
  }
  const { 'model.safetensors': weights } = await readPolicyFolder(folder);
  return { folder, sha256: sha256Hex(weights!) };
}

/** A start policy in a wider shape, and by what the step sizes of its rounds are multiplied. */
export interface WiderStart extends MadeStart {
  readonly config: ModelConfig;
  readonly stepSizes: number;
}

/**
 * The shipped start policy `name` in a wider shape: at version 0 it computes what the shipped one does. With Adam the best step size of a matrix falls
 * as one over its width (Yang et al., “Tensor Programs V”, arXiv:2203.03466), and so do those of the rounds.
 */
export async function startOfShape(state: string, name: string, shape: ShapeName): Promise<WiderStart> {
  const folder = join(state, 'claims', 'starts', `${name}-${shape}`);
  const start = await readStart(name);
  const from = configOf(start);
  const made = SHAPES[shape](from.vocabSize, from.eosIds[0]!);
  const config: ModelConfig = { ...made, eosIds: from.eosIds, maxPositions: from.maxPositions };
  const tensors = widened(readSafetensors(start['model.safetensors']!), from, config, `${name}/${shape}`);
  const weights = writeSafetensors(tensors);
  const files: Record<string, Uint8Array> = {
    ...start,
    'config.json': new TextEncoder().encode(JSON.stringify(toHfConfig(config))),
    'model.safetensors': weights,
  };
  await mkdir(folder, { recursive: true });
  for (const [file, bytes] of Object.entries(files)) await writeFile(join(folder, file), bytes);
  return {
    folder,
    config,
    sha256: sha256Hex(weights),
    stepSizes: from.hiddenSize / config.hiddenSize,
  };
}
