/** Every recipe by name. */
import { wrongInput } from '../core/errors.ts';
import type { Recipe } from '../core/recipe.ts';
import { trio } from './trio.ts';

export const recipes: readonly Recipe[] = [trio];

export function findRecipe(name: string): Recipe {
  const found = recipes.find((recipe) => recipe.name === name);
  if (found) return found;
  throw wrongInput('recipe.unknown', `There is no recipe "${name}".`, {
    expected: `one of ${recipes.map((recipe) => recipe.name).join(', ')}`,
    next: 'Run `npm run recipe -- list`.',
  });
}
