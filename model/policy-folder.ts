/** Reads a version's files from a folder in the Hugging Face layout, such as the start policy in models/arithmetic-base. Node only. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VersionFiles } from '../core/schema/policy.ts';

export async function readPolicyFolder(folder: string): Promise<VersionFiles> {
  const names = (
    ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'] as const
  ).filter((name) => name !== 'tokenizer_config.json' || existsSync(join(folder, name)));
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name))));
  return Object.fromEntries(names.map((name, i) => [name, new Uint8Array(contents[i]!)]));
}
