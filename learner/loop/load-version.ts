/**
 * A version's files for training. A file that is damaged or gone says nothing about the groups that wait for it: the round is tried
 * again, so that it goes on once the file is restored or the policy is rolled back.
 */
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy.ts';
import type { MeshGateway } from './ports.ts';

/** What `npm start` looks for in the learner's log: it goes on only once a person has acted. */
export const UNREADABLE = 'version.unreadable';

type Versions = Pick<MeshGateway, 'getVersion'>;

function unreadable({ name, version }: PolicyRef, cause: unknown): unknown {
  const known = cause instanceof RollmeshError;
  // The gateway is away, which is not about the version; or somebody replaced the manifest, for which the round is refused.
  if (known && (cause.kind === 'retry' || cause.code === 'version.manifest')) return cause;
  const why = known ? cause.what : 'Its manifest.json is not the one of a version.';
  return new RollmeshError('retry', UNREADABLE, `Version ${version} of ${name} cannot be read: ${why}`, {
    next: `Restore the file, or roll back: \`npm run policy -- rollback ${name} VERSION\`. The round waits, and none of its groups is lost.`,
    cause,
  });
}

/** The gateway's versions. What it throws is of kind `retry`, `version.unreadable`, where the store does not hold the files that a manifest names. */
export const versionsForTraining = (gateway: Versions): Versions => ({
  getVersion: (...asked) =>
    gateway.getVersion(...asked).catch((cause: unknown) => {
      throw unreadable(asked[0], cause);
    }),
});
