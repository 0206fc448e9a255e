/**
 * An evaluation's completions, sampled beside the learner's own thread, which goes on with rounds meanwhile. A completion depends on its version, prompt,
 * id and settings alone, so that the bits are those of any thread.
 */
import type { Completion, GeneratePrompt, PolicyRef, SamplingSettings } from '../../core/policy/policy.ts';
import { headFile, setFiles, type VersionFiles } from '../../core/schema/policy.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

/** Samples [prompts] -> [prompts][samples] from a version whose files are given. */
export type SampleApart = (
  ref: PolicyRef,
  files: VersionFiles,
  prompts: readonly GeneratePrompt[],
  settings: SamplingSettings,
) => Promise<Completion[][]>;

/** The largest weights that are held once more for each thread, bytes. */
const MOST_BYTES = 32 << 20;

/** May a version's set be sampled apart? Not where it is large, and not with a head, since what reads a head scores, which the learner's own thread does. */
export async function isForApart(
  gateway: Pick<GatewayClient, 'getManifest'>,
  ref: PolicyRef,
): Promise<boolean> {
  const { files } = await gateway.getManifest(ref);
  const { files: start } = ref.version === 0 ? { files } : await gateway.getManifest({ ...ref, version: 0 });
  const { weights } = setFiles(files, ref.set, start);
  return !files[headFile(ref.set)] && weights !== undefined && weights.bytes <= MOST_BYTES;
}

/** May all that a round's roles sample with? */
export async function areForApart(
  gateway: Pick<GatewayClient, 'getManifest'>,
  { roles }: Pick<RoundSpec, 'roles'>,
): Promise<boolean> {
  for (const ref of Object.values(roles)) if (!(await isForApart(gateway, ref))) return false;
  return true;
}
