/** Reads a Hugging Face checkpoint folder: one model.safetensors or shards named by model.safetensors.index.json. Node only. */
import { join } from 'node:path';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../core/errors.ts';
import { LARGEST_TEXT, LARGEST_WEIGHTS, readRegularFile } from './regular-file.ts';
import { readSafetensors, type Tensors } from './safetensors.ts';

const shardIndex = v.looseObject({
  weight_map: v.record(v.string(), v.pipe(v.string(), v.regex(/^[\w.-]+$/))),
});

const missing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * Reads all tensors of a checkpoint folder and merges its shards.
 *
 * @throws RollmeshError `checkpoint.files` when there are no weights or the index is malformed, names a
 * file that is not there, or a tensor its file lacks; `file.kind` or `file.size` for what readRegularFile refuses.
 */
export async function readCheckpointTensors(folder: string): Promise<Tensors> {
  const single = await readRegularFile(join(folder, 'model.safetensors'), LARGEST_WEIGHTS).catch(
    (error: unknown) => {
      if (missing(error)) return undefined;
      throw error;
    },
  );
  if (single) return readSafetensors(single);
  const files = await readShardMap(folder);
  const tensors: Tensors = new Map();
  let room = LARGEST_WEIGHTS;
  for (const file of new Set(files.values())) {
    const bytes = await readShard(folder, file, room);
    room -= bytes.length;
    for (const [name, tensor] of readSafetensors(bytes)) tensors.set(name, tensor);
  }
  for (const [name, file] of files)
    if (!tensors.has(name))
      throw wrongInput('checkpoint.files', `The index puts ${name} into ${file}, which does not hold it.`);
  return tensors;
}

async function readShardMap(folder: string): Promise<Map<string, string>> {
  const path = join(folder, 'model.safetensors.index.json');
  try {
    const text = new TextDecoder().decode(await readRegularFile(path, LARGEST_TEXT));
    return new Map(Object.entries(v.parse(shardIndex, JSON.parse(text)).weight_map));
  } catch (cause) {
    if (cause instanceof RollmeshError) throw cause;
    throw wrongInput('checkpoint.files', `No weights could be read in ${folder}.`, {
      expected: 'model.safetensors, or model.safetensors.index.json with its shards',
      cause,
    });
  }
}

/** Reads one shard; `most` is the number of bytes that the shards before it left of the limit. */
async function readShard(folder: string, file: string, most: number): Promise<Uint8Array> {
  try {
    return await readRegularFile(join(folder, file), most);
  } catch (cause) {
    if (cause instanceof RollmeshError) throw cause;
    throw wrongInput('checkpoint.files', `The shard ${file} could not be read in ${folder}.`, {
      expected: 'every file that model.safetensors.index.json names',
      cause,
    });
  }
}
