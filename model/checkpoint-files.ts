/** Reads a Hugging Face checkpoint folder: one model.safetensors or shards named by model.safetensors.index.json. Node only. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { readSafetensors, type Tensors } from './safetensors.ts';

const shardIndex = v.looseObject({
  weight_map: v.record(v.string(), v.pipe(v.string(), v.regex(/^[\w.-]+$/))),
});

const missing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * All tensors of a checkpoint folder, shards merged.
 *
 * @throws RollmeshError `checkpoint.files` when there are no weights or the index is malformed, names a
 * file that is not there, or a tensor its file lacks.
 */
export async function readCheckpointTensors(folder: string): Promise<Tensors> {
  const single = await readFile(join(folder, 'model.safetensors')).catch((error: unknown) => {
    if (missing(error)) return undefined;
    throw error;
  });
  if (single) return readSafetensors(single);
  const files = await readShardMap(folder);
  const tensors: Tensors = new Map();
  for (const file of new Set(files.values()))
    for (const [name, tensor] of readSafetensors(await readShard(folder, file))) tensors.set(name, tensor);
  for (const [name, file] of files)
    if (!tensors.has(name))
      throw wrongInput('checkpoint.files', `The index puts ${name} into ${file}, which does not hold it.`);
  return tensors;
}

async function readShardMap(folder: string): Promise<Map<string, string>> {
  const path = join(folder, 'model.safetensors.index.json');
  try {
    return new Map(Object.entries(v.parse(shardIndex, JSON.parse(await readFile(path, 'utf8'))).weight_map));
  } catch (cause) {
    throw wrongInput('checkpoint.files', `No weights could be read in ${folder}.`, {
      expected: 'model.safetensors, or model.safetensors.index.json with its shards',
      cause,
    });
  }
}

async function readShard(folder: string, file: string): Promise<Uint8Array> {
  try {
    return await readFile(join(folder, file));
  } catch (cause) {
    throw wrongInput('checkpoint.files', `The shard ${file} could not be read in ${folder}.`, {
      expected: 'every file that model.safetensors.index.json names',
      cause,
    });
  }
}
