/** `policy rollback`: moves the pointer back and withdraws every later version; rounds that name one of those end. */

import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { findPolicy } from './stored-version.ts';

export interface RolledBack {
  readonly policy: string;
  readonly current: number;
  /** The versions that this call withdrew, oldest first. */
  readonly withdrawn: readonly number[];
}

/** @throws RollmeshError `policy.missing`, or `rollback.version` where that version is missing or withdrawn itself. */
export async function rollBack(gateway: GatewayClient, ref: PolicyRef, reason: string): Promise<RolledBack> {
  const { versions, current } = await findPolicy(gateway, ref.name);
  const usable = versions
    .filter((row) => row.withdrawn === null && row.prunedAt === null)
    .map((row) => row.version);
  const oldest = versions.at(-1)?.version ?? 0;
  if (ref.version >= oldest && !usable.includes(ref.version))
    throw wrongInput('rollback.version', `Policy ${ref.name} has no usable version ${ref.version}.`, {
      expected: `a version from 0 to ${current} that was neither withdrawn nor pruned`,
      next: 'See `npx rollmesh policy list`.',
    });
  await gateway.rollBack(ref, reason);
  const withdrawn = versions
    .filter((row) => row.withdrawn === null && row.version > ref.version)
    .map((row) => row.version)
    .toReversed();
  return { policy: ref.name, current: ref.version, withdrawn };
}
