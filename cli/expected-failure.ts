/** Turns failures of the machine into the project's errors: what happened, what was expected, what to do next. */
import { RollmeshError } from '../core/errors.ts';

interface SystemError {
  readonly code: string;
  readonly path?: string | undefined;
}

function systemError(error: unknown): SystemError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return {
    code: error.code,
    path: 'path' in error && typeof error.path === 'string' ? error.path : undefined,
  };
}

/** What the local mesh and a deployment need, and a learner's box may leave out: `optionalDependencies` of the package (`.ci/pack-manifest.mjs`). */
const LEFT_OUT =
  /^Cannot find package '(@modelcontextprotocol\/server|@valibot\/to-json-schema|c12|drizzle-orm|hono|miniflare|wrangler)'/;

const LATER = 'then give the same command again: it goes on where it stood.';

/** `at`: where, as words that follow "full"; empty where that is not known. */
export const diskFull = (at: string, cause?: unknown) =>
  new RollmeshError('over-budget', 'disk.full', `The disk is full${at}.`, {
    expected: 'room for logs, databases and weights',
    next: `Make room, or choose another folder with --state DIR, ${LATER}`,
    cause,
  });

/** The failure as a RollmeshError; undefined for anything that a user cannot fix. */
export function expectedFailure(error: unknown): RollmeshError | undefined {
  if (error instanceof RollmeshError) return error;
  const failed = systemError(error);
  if (!failed) return undefined;
  const at = failed.path ? ` at ${failed.path}` : '';
  switch (failed.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(at, error);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new RollmeshError(
        'wrong-input',
        'file.denied',
        `This user may not write${at}: ${failed.code}.`,
        {
          expected: 'a folder that this user can write',
          next: `Change its owner or mode, or choose another folder, ${LATER}`,
          cause: error,
        },
      );
    case 'EMFILE':
    case 'ENFILE':
      return new RollmeshError('retry', 'file.many', 'Too many files are open.', {
        next: `Raise the limit (\`ulimit -n\`), ${LATER}`,
        cause: error,
      });
    case 'EADDRINUSE':
    case 'ERR_ADDRESS_IN_USE':
      return new RollmeshError(
        'wrong-input',
        'start.port',
        'The port of the mesh was taken while it started.',
        {
          expected: 'a port that is free',
          next: 'Choose another with --port, or --port 0 for any that is free.',
          cause: error,
        },
      );
    case 'ERR_RUNTIME_FAILURE':
      return new RollmeshError('retry', 'mesh.start', 'The runtime of the mesh, workerd, did not start.', {
        expected: 'a free port and a state folder that nothing else uses',
        next: 'What it wrote is in mesh.log of the state folder.',
        cause: error,
      });
    case 'ERR_MODULE_NOT_FOUND': {
      const missing = error instanceof Error && LEFT_OUT.exec(error.message)?.[1];
      return missing ? leftOut(missing, error) : undefined;
    }
    default:
      return undefined;
  }
}

const leftOut = (name: string, cause: unknown) =>
  new RollmeshError('wrong-input', 'install.optional', `The package ${name} is not installed here.`, {
    expected: 'an installation with its optional packages, which the local mesh and a deployment need',
    next: 'Install rollmesh without --omit=optional. `rollmesh learner` and `rollmesh node` do without them.',
    cause,
  });
