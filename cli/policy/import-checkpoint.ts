/** `policy import`: makes a checkpoint folder version 0 of a new policy, after all checks have passed. */
import { basename, resolve } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import type { FileStream } from '../../core/schema/policy.ts';
import { importPolicy } from '../../local/starts.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { type CheckpointFiles, readCheckpointFolder } from './checkpoint-folder.ts';
import { checkName } from './policy-name.ts';

export interface Imported {
  readonly policy: string;
  readonly version: 0;
  readonly bytes: number;
  readonly tokenizer: boolean;
}

export interface Checkpoint {
  readonly name: string;
  /** Where the checkpoint came from, for the manifest. */
  readonly origin: string;
  readonly files: CheckpointFiles;
}

/** Reads and checks everything that can be checked without the store. */
export async function readImport(
  folder: string,
  name: string,
  {
    origin = basename(resolve(folder)),
    ...options
  }: { readonly tokenizer: boolean; readonly origin?: string },
): Promise<Checkpoint> {
  checkName(name);
  return { name, origin, files: await readCheckpointFolder(folder, options) };
}

/** @throws RollmeshError `policy.taken`: versions are create-only. */
export async function storeImport(
  gateway: GatewayClient,
  { name, origin, files }: Checkpoint,
): Promise<Imported> {
  if (await gateway.getPolicy(name))
    throw wrongInput('policy.taken', `There is a policy ${name} already.`, {
      expected: 'a name that no policy has: versions are never overwritten',
      next: 'Choose another with --name.',
    });
  await importPolicy(gateway, name, files, { importedFrom: origin });
  const bytes = Object.values<Uint8Array | FileStream>(files).reduce(
    (sum, file) => sum + (file instanceof Uint8Array ? file.length : file.bytes),
    0,
  );
  return { policy: name, version: 0, bytes, tokenizer: 'tokenizer.json' in files };
}
