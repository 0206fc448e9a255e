/**
 * Loads a version's files for training. A damaged or missing file is no fault of the groups that wait for the version, so the round is
 * retried, and after some attempts given up as a whole: it is trained once the file is restored and the round is replayed.
 */
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import type { MeshGateway } from './ports.ts';

/** The error code of a version whose files are damaged or missing. */
export const UNREADABLE = 'version.unreadable';

type Versions = Pick<MeshGateway, 'getVersion' | 'getTasks'>;

function unreadable({ name, version }: PolicyRef, cause: unknown): unknown {
  const known = cause instanceof RollmeshError;
  // Either the gateway is unreachable, which says nothing about the version, or the manifest was replaced, and then the round is refused.
  if (known && (cause.kind === 'retry' || cause.code === 'version.manifest')) return cause;
  const why = known ? cause.what : whyOf(cause);
  return new RollmeshError('retry', UNREADABLE, `Version ${version} of ${name} cannot be read: ${why}`, {
    next: `Restore the file and run \`npx rollmesh dead-letters replay\`, or roll back: \`npx rollmesh policy rollback ${name} VERSION\`.`,
    cause,
  });
}

/** What is wrong with a version by an error that is not ours: of a parser, or of a connection that ended before the file did. */
const whyOf = (cause: unknown): string =>
  cause instanceof SyntaxError || cause instanceof v.ValiError
    ? 'Its manifest.json is not the one of a version.'
    : 'One of its files ends before it should, or could not be fetched whole.';

/**
 * Gets versions, and objects of tasks, from the gateway. Throws `version.unreadable` of kind `retry` where the store lacks the files that a manifest
 * names, and `tasks.missing` likewise.
 */
export const versionsForTraining = (gateway: Versions): Versions => ({
  getVersion: (...asked) =>
    gateway.getVersion(...asked).catch((cause: unknown) => {
      throw unreadable(asked[0], cause);
    }),
  getTasks: (sha256) =>
    gateway.getTasks(sha256).catch((cause: unknown) => {
      throw new RollmeshError('retry', 'tasks.missing', `The object of tasks ${sha256} cannot be read.`, {
        next: 'Start the run again with the same --tasks: what is missing is stored again.',
        cause,
      });
    }),
});
