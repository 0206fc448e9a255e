/** `policy prune`: removes the files of old versions that nothing names any more, in repeated calls until none is left. */

import type { Pruned } from '../../core/schema/answers.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { findPolicy } from './stored-version.ts';

export interface PruneRule {
  readonly keep: number;
  readonly withdrawnDays: number;
  readonly dryRun: boolean;
}

/** @throws RollmeshError `policy.missing` */
export async function prune(gateway: GatewayClient, name: string, rule: PruneRule): Promise<Pruned> {
  await findPolicy(gateway, name);
  const { keep, withdrawnDays, dryRun } = rule;
  const found = await gateway.prune(name, { keep, withdrawnDays, dryRun });
  const removed = [...found.removed];
  for (let last = removed.length; last > 0; ) {
    const more = await gateway.prune(name, { keep, withdrawnDays, dryRun });
    removed.push(...more.removed);
    last = more.removed.length;
  }
  return { ...found, removed: removed.filter(({ policy }) => policy === name) };
}
