/** Reads a version's files from a folder in the Hugging Face layout, such as the start policy in models/arithmetic-base. Node only. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VersionFiles } from '../core/schema/policy.ts';

export async function readPolicyFolder(folder: string): Promise<VersionFiles> {
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'] as const;
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name))));
  return Object.fromEntries(names.map((name, i) => [name, new Uint8Array(contents[i]!)]));
}
