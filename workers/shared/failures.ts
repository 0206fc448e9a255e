/** From anything thrown to a failure that is recorded: kind, code, and a message without stack or path. */
import { kindOf, RollmeshError } from '../../core/errors.ts';
import type { Failure } from '../../store/schema.ts';

const LONGEST = 500;

export function failureOf(error: unknown): Failure {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, LONGEST);
  return {
    kind: kindOf(error),
    code: error instanceof RollmeshError ? error.code : 'internal',
    message,
  };
}
