/** Errors of what a path names. */
import { HttpError } from './http-error.ts';

export const notFound = (what: string, which: string) =>
  new HttpError(404, `${what.replace(/.* /, '')}.unknown`, `There is no ${what} ${which.slice(0, 160)}.`);
