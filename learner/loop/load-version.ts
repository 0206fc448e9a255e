/**
 * A version's files for training. A file that is damaged or gone says nothing about the groups that wait for it: the round is tried
 * again, so that it goes on once the file is restored or the policy is rolled back.
 */
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { MeshGateway } from './ports.ts';

/** What `npm start` looks for in the learner's log: it goes on only once a person has acted. */
export const UNREADABLE = 'version.unreadable';

/** @throws RollmeshError of kind `retry`, `version.unreadable`, where the store does not hold the files that the manifest names. */
export async function loadForTraining(
  gateway: Pick<MeshGateway, 'getVersion'>,
  ref: PolicyRef,
): Promise<VersionFiles> {
  try {
    return await gateway.getVersion(ref);
  } catch (cause) {
    const known = cause instanceof RollmeshError;
    // The gateway is away, which is not about the version.
    if (known && cause.kind === 'retry') throw cause;
    const why = known ? cause.what : 'Its manifest.json is not the one of a version.';
    throw new RollmeshError(
      'retry',
      UNREADABLE,
      `Version ${ref.version} of ${ref.name} cannot be read: ${why}`,
      {
        next: `Restore the file, or roll back: \`npm run policy -- rollback ${ref.name} VERSION\`. The round waits, and none of its groups is lost.`,
        cause,
      },
    );
  }
}
