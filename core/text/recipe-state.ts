/** Reads the recipe state from a version's files: it is part of the version, so that it is committed and rolled back with it. */
import type { VersionFiles } from '../schema/policy.ts';

/** undefined where the version carries nothing. */
export function recipeStateOf(files: VersionFiles): unknown {
  const bytes = files['memory.json'];
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}
