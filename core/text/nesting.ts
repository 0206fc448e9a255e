/** How deep values of JSON are nested. JSON.parse reads any depth, and whatever then goes through a value by recursion runs out of stack. */

/** Deeper than anybody writes by hand, and far from the end of any stack. */
export const DEEPEST = 100;

/** Is a value nested no deeper than `levels`? Looks no deeper itself. */
export function isShallow(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** Does a value hold a number without end? JSON.parse makes one of 1e400. The value must be shallow. */
export const isEndless = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(isEndless)
    : typeof value === 'number' && !Number.isFinite(value);

/** Why something failed, in words; what ran out of stack was nested too deeply, or referred to itself. */
export const reasonOf = (error: unknown): string =>
  error instanceof RangeError && /call stack/.test(error.message)
    ? 'it is nested too deeply, or refers to itself'
    : error instanceof Error
      ? error.message
      : String(error);
