/** What was parsed from a text, or the reason why nothing was: an answer that cannot be read is data, not an exception. */
export type ParseResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

export const read = <T>(value: T): ParseResult<T> => ({ ok: true, value });
export const invalid = (reason: string): ParseResult<never> => ({ ok: false, reason });
