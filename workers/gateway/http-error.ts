/** Errors as HTTP answers: `{error: {code, message, expected, next}}` for our own; any other is a bare 500 without stack or cause. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { RollmeshError } from '../../core/errors.ts';
import type { Refusal } from '../../core/schema/answers.ts';
import { apiError } from '../../core/serving/api-error.ts';
import { failureOf, STATUS_OF_KIND } from '../shared/failures.ts';
import { log } from '../shared/log.ts';
import { causesOf } from '../store/database.ts';

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
  if (!known) {
    const words = causesOf(error);
    const [, status, body] = OF_THE_STORE.find(([pattern]) => pattern.test(words)) ?? INTERNAL;
    return { status, body };
  }
  const [status, message] =
    error instanceof HttpError ? [error.status, error.message] : [STATUS_OF_KIND[error.kind], error.what];
  return { status, body: bodyOf(error.code, message, error.expected, error.next) };
}

/** An error as OpenAI's clients read it. */
export function toldError(error: Error, c: Context): Response {
  const { status, body } = errorResponse(error);
  if (status >= 500) log('error', 'request.failed', { path: c.req.path.slice(0, 200), ...failureOf(error) });
  const { code, message, expected, next } = body.error;
  const sentences = [message, expected && `Expected ${expected}.`, next].filter(Boolean).join(' ');
  return c.json(apiError(status, code, sentences), status);
}

const bodyOf = (code: string, message: string, expected?: string, next?: string): Refusal => ({
  error: { code, message, expected: expected ?? null, next: next ?? null },
});

/** What SQLite says of a database whose pages are not what they were, that finds no room, or whose migrations are not applied yet; drizzle wraps it. */
const OF_THE_STORE: readonly (readonly [RegExp, ContentfulStatusCode, Refusal])[] = [
  [
    /SQLITE_CORRUPT|SQLITE_NOTADB|malformed|file is not a database/i,
    500,
    bodyOf(
      'database.damaged',
      'The database or the index of the objects is damaged.',
      undefined,
      'Restore the state folder from a copy; a local mesh begins anew with `npx rollmesh start --fresh`.',
    ),
  ],
  [
    /SQLITE_FULL|database or disk is full/i,
    507,
    bodyOf(
      'disk.full',
      'The database or the index of the objects finds no room.',
      'room on the disk of a local mesh, or below the limit of a D1 database',
      'Make room, then send the same again.',
    ),
  ],
  [
    /no such (?:table|column)/i,
    503,
    bodyOf(
      'database.migrating',
      'The database does not have this release’s tables yet.',
      'a mesh that has started, or migrations that were applied',
      'Wait until the mesh is up; a deployed mesh needs `npx rollmesh deploy`, which applies them.',
    ),
  ],
];

const INTERNAL = [
  null,
  500,
  bodyOf('internal', 'The gateway failed.', undefined, 'Try again; the log has the cause.'),
] as const;
