/** The exact versions that a round names, opened for an audit: each once, in the runtime that the Workers use. */
import type { AuditTools } from '../../core/audit/audit-round.ts';
import type { Policy, PolicyRef } from '../../core/policy.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort.ts';
import type { GatewayClient } from '../transport/gateway-client.ts';

interface Opened {
  readonly policy: Policy;
  readonly tokenizer: Tokenizer;
}

/** Runs `work` with the policies of a round, and disposes of them. Files are checked against their manifests. */
export async function withRoundPolicies<T>(
  gateway: Pick<GatewayClient, 'getVersion'>,
  round: RoundSpec,
  work: (tools: AuditTools) => Promise<T>,
): Promise<T> {
  const opened = new Map<string, Opened>();
  const keyOf = ({ name, version }: PolicyRef) => `${name}@${version}`;
  try {
    for (const ref of Object.values(round.roles))
      if (!opened.has(keyOf(ref))) opened.set(keyOf(ref), await open(gateway, ref));
    const of = (role: string) => opened.get(keyOf(round.roles[role]!))!;
    return await work({ policyOf: (role) => of(role).policy, tokenizerOf: (role) => of(role).tokenizer });
  } finally {
    for (const { policy } of opened.values()) await policy.dispose();
  }
}

async function open(gateway: Pick<GatewayClient, 'getVersion'>, ref: PolicyRef): Promise<Opened> {
  const files = await gateway.getVersion(ref, ['config.json', 'tokenizer.json', 'model.safetensors']);
  return { policy: await openVersion(await loadOrt(), ref, files), tokenizer: tokenizerOf(files, ref.name) };
}
