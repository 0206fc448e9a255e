/** Schemas of path and query parameters that several routes share. */
import * as v from 'valibot';
import { HttpError } from './http-error.ts';

export const versionNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A version in a path: decimal digits only; other spellings of a number are refused. */
export const versionText = v.pipe(
  v.string(),
  v.regex(/^(?:0|[1-9]\d{0,15})$/, 'Expected a whole number from 0'),
  v.transform(Number),
  versionNumber,
);

/** `?limit=` of a listing: parses the text to a whole number from 1 to `most`. */
export const limitOf = (most: number, fallback: number) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,6}$/, 'Expected a whole number'),
      v.transform(Number),
      v.minValue(1),
      v.maxValue(most),
    ),
    String(fallback),
  );

/** Where a listing goes on: an index from 0. */
export const fromIndex = v.pipe(
  v.string(),
  v.regex(/^\d{1,6}$/, 'Expected a whole number from 0'),
  v.transform(Number),
);

/** A round's index in a query. */
export const indexOf = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,8}$/, 'Expected a whole number from 1'),
  v.transform(Number),
);

export const notFound = (what: string, which: string) =>
  new HttpError(404, `${what.replace(/.* /, '')}.unknown`, `There is no ${what} ${which.slice(0, 160)}.`);
