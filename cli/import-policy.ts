/** Puts a version 0 into the store through the gateway, unless it is there. */
import type { VersionFiles } from '../core/schema/policy.ts';
import type { GatewayClient } from '../learner/transport/gateway-client.ts';
import { readSeed } from '../model/seed-files.ts';

/** The name under which the seed policy lies in a mesh; runs that name no policy begin from it. */
export const SEED_POLICY = 'seed';

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

/** Returns whether it had to be imported. */
export async function ensureSeed(gateway: GatewayClient, folder: string): Promise<boolean> {
  if (await gateway.getPolicy(SEED_POLICY)) return false;
  await importPolicy(gateway, SEED_POLICY, await readSeed(folder), { importedFrom: 'models/seed' });
  return true;
}
