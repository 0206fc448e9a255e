/** What was read from a text, or why nothing was: an answer that cannot be read is data, and no exception. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

export const read = <T>(value: T): Reading<T> => ({ ok: true, value });
export const refuse = (reason: string): Reading<never> => ({ ok: false, reason });
