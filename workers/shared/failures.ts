/** Turns anything thrown into a failure for the records: kind, code, and a message without stack or path. */
import { type FailureKind, kindOf, RollmeshError } from '../../core/errors.ts';
import type { Failure } from '../store/schema.ts';

const LONGEST = 500;

/** The HTTP status of an answer that tells of a failure. */
export const STATUS_OF_KIND = {
  'wrong-input': 422,
  'missing-version': 404,
  'over-budget': 413,
  'give-up': 409,
  retry: 503,
} as const satisfies Record<FailureKind, number>;

/** Takes the message of our own errors; of others that of the innermost cause, since outer ones quote the query that failed. */
function reasonOf(error: unknown): string {
  let at = error;
  while (!(at instanceof RollmeshError) && at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at instanceof Error ? at.message : String(at);
}

export function failureOf(error: unknown): Failure {
  const message = reasonOf(error).slice(0, LONGEST);
  return {
    kind: kindOf(error),
    code: error instanceof RollmeshError ? error.code : 'internal',
    message,
  };
}
