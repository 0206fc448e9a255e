/** Puts a version 0 into the store through the gateway, unless it is there. */
import { join } from 'node:path';
import type { GatewayClient } from '../api/gateway-client.ts';
import type { VersionFiles } from '../core/schema/policy.ts';
import { readSeed } from '../model/seed-files.ts';

/** The name under which the seed policy lies in a mesh; runs that name no policy begin from it. */
export const SEED_POLICY = 'seed';
/** Folder of the policies that come with the project, one for each warm start. */
export const SHIPPED = 'models';

export async function importPolicy(
  gateway: GatewayClient,
  name: string,
  files: VersionFiles,
  settings: Record<string, unknown>,
): Promise<void> {
  await gateway.putVersion(files, {
    policy: name,
    version: 0,
    parent: null,
    groups: [],
    round: null,
    settings,
  });
}

/** Imports a policy that is shipped under models/, by its folder's name. Returns whether it had to be imported. */
export async function ensureShipped(gateway: GatewayClient, name: string = SEED_POLICY): Promise<boolean> {
  if (await gateway.getPolicy(name)) return false;
  const folder = join(SHIPPED, name);
  await importPolicy(gateway, name, await readSeed(folder), { importedFrom: folder });
  return true;
}
