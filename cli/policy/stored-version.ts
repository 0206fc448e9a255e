/** Finds a stored version; where it is missing, the error names what there is. */

import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { TEXT_FILES } from '../../core/renderer/policy-text.ts';
import type { PolicyVersions } from '../../core/schema/answers.ts';
import {
  adapterFile,
  type Manifest,
  type VersionFile,
  type VersionFiles,
  weightsFile,
} from '../../core/schema/policy.ts';
import { importCommand } from '../../local/starts.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

export const missingPolicy = (name: string, names: readonly string[]): RollmeshError =>
  new RollmeshError('missing-version', 'policy.missing', `There is no policy ${name}.`, {
    expected: names.length ? `one of: ${names.join(', ')}` : 'an imported policy',
    next: `Import it with \`${importCommand(name)}\`, or name its folder with --state DIR.`,
  });

/** @throws RollmeshError `policy.missing`, which names the policies there are. */
export async function findPolicy(gateway: GatewayClient, name: string): Promise<PolicyVersions> {
  const names = await gateway.listPolicies();
  if (names.includes(name)) return gateway.getVersions(name);
  throw missingPolicy(name, names);
}

/** @throws RollmeshError `policy.missing` or `version.missing`. */
async function checkVersion(gateway: GatewayClient, { name, version }: PolicyRef): Promise<void> {
  const { versions, next } = await findPolicy(gateway, name);
  const oldest = versions.at(-1)?.version ?? next;
  // Only the newest are listed; an older one exists, since version numbers have no gaps.
  if (version < oldest || versions.some((row) => row.version === version)) return;
  throw new RollmeshError('missing-version', 'version.missing', `Policy ${name} has no version ${version}.`, {
    expected: next === 1 ? '0' : `a number from 0 to ${next - 1}`,
    next: 'See `npx rollmesh policy list`.',
  });
}

export interface StoredVersion {
  readonly manifest: Manifest;
  /** Each is checked against the manifest. */
  readonly files: VersionFiles;
}

/** Fetches the named files; by default the text and the weights. */
export async function fetchVersion(
  gateway: GatewayClient,
  ref: PolicyRef,
  wanted: readonly VersionFile[] = [...TEXT_FILES, weightsFile(), adapterFile()],
): Promise<StoredVersion> {
  await checkVersion(gateway, ref);
  const manifest = await gateway.getManifest(ref);
  const files = await gateway.getVersion(ref, wanted);
  return { manifest, files };
}
