/** Errors as HTTP answers: `{error: {code, message, expected, next}}` for our own; any other is a bare 500 without stack or cause. */
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { RollmeshError } from '../../core/errors.ts';
import type { Refusal } from '../../core/schema/answers.ts';
import { causesOf } from '../../store/database.ts';
import { STATUS_OF_KIND } from '../shared/failures.ts';

export class HttpError extends Error {
  readonly status: ContentfulStatusCode;
  readonly code: string;
  readonly expected: string | undefined;
  readonly next: string | undefined;

  constructor(
    status: ContentfulStatusCode,
    code: string,
    message: string,
    hint: { readonly expected?: string; readonly next?: string } = {},
  ) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.code = code;
    this.expected = hint.expected;
    this.next = hint.next;
  }
}

export function errorResponse(error: unknown): { status: ContentfulStatusCode; body: Refusal } {
  const known = error instanceof HttpError || error instanceof RollmeshError;
  if (!known && isDamaged(error)) {
    const next =
      'Restore the state folder from a copy; a local mesh begins anew with `npm start -- --fresh`.';
    return {
      status: 500,
      body: bodyOf(
        'database.damaged',
        'The database or the index of the objects is damaged.',
        undefined,
        next,
      ),
    };
  }
  if (!known) {
    const body = bodyOf('internal', 'The gateway failed.', undefined, 'Try again; the log has the cause.');
    return { status: 500, body };
  }
  const [status, message] =
    error instanceof HttpError ? [error.status, error.message] : [STATUS_OF_KIND[error.kind], error.what];
  return { status, body: bodyOf(error.code, message, error.expected, error.next) };
}

/** What SQLite says of a file whose pages are not what they were; drizzle wraps it. */
const isDamaged = (error: unknown): boolean =>
  /SQLITE_CORRUPT|SQLITE_NOTADB|malformed|file is not a database/i.test(causesOf(error));

const bodyOf = (code: string, message: string, expected?: string, next?: string): Refusal => ({
  error: { code, message, expected: expected ?? null, next: next ?? null },
});
