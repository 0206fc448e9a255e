/** How deep values of JSON are nested. JSON.parse reads any depth, and whatever then goes through a value by recursion runs out of stack. */

/** Deeper than anybody writes by hand, and far from the end of any stack. */
export const DEEPEST = 100;

/** Is a value nested no deeper than `levels`? Looks no deeper itself. */
export function isShallow(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}
