/** JSON with the keys of every object in order, so that the same value is the same text whoever wrote it and however it was stored. */
const sorted = (_key: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Values that are undefined are left out, as JSON does. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, sorted);
