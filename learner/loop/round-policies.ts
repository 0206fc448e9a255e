/** The exact versions that a round names, opened in the runtime that the Workers use; files are checked against their manifests. */

import type { GatewayClient } from '../../api/gateway-client.ts';
import type { StageParts } from '../../core/roles/stage.ts';
import { newestOf, type RoundSpec } from '../../core/schema/round.ts';
import { memoryOf } from '../../core/text/policy-memory.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { filesOf, OpenPolicies } from '../../infer/open-policies.ts';
import { nodeEngines } from '../../infer/node-engines.ts';

export type RoundTools = Pick<StageParts, 'tokenizer' | 'use' | 'memory'>;
type Versions = Pick<GatewayClient, 'getVersion'>;

/** Runs `work` with the policies of a round, and disposes of them. */
export async function withRoundPolicies<T>(
  gateway: Versions,
  round: RoundSpec,
  work: (tools: RoundTools) => Promise<T>,
): Promise<T> {
  const policies = new OpenPolicies(nodeEngines, (ref) => gateway.getVersion(ref, filesOf(ref)));
  const { policy: name } = round.settings;
  try {
    return await work({
      tokenizer: tokenizerOf(await gateway.getVersion({ name, version: 0 }, ['tokenizer.json']), name),
      use: policies.use,
      memory: async () => memoryOf(await gateway.getVersion(newestOf(round), ['memory.json'])),
    });
  } finally {
    await policies.dispose();
  }
}
