/** What paths and headers name, and the error where there is no such thing. */
import * as v from 'valibot';
import { HttpError } from './http-error.ts';

/** The header `x-sha256`. */
export const hashHeader = v.pipe(
  v.string('Expected the header x-sha256'),
  v.regex(/^[0-9a-f]{64}$/, 'Expected 64 hex digits'),
);

export const notFound = (what: string, which: string) =>
  new HttpError(404, `${what.replace(/.* /, '')}.unknown`, `There is no ${what} ${which.slice(0, 160)}.`);
