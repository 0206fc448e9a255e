/** Recipes that state a claim: shipped ones do, and are held to its record; a recipe of one's own need not. */
import type { Claim } from './claims.ts';
import { wrongInput } from './errors.ts';
import type { Recipe } from './recipe.ts';

export type ClaimedRecipe = Recipe & { readonly claim: Claim };

const isClaimed = (recipe: Recipe): recipe is ClaimedRecipe => recipe.claim !== undefined;

/** Throws `wrong-input` with the code `claims.none` where the recipe states no claim. */
export function claimed(recipe: Recipe): ClaimedRecipe {
  if (isClaimed(recipe)) return recipe;
  throw wrongInput('claims.none', `The recipe ${recipe.name} states no claim.`, {
    expected: 'a recipe with the field `claim`: its arms, seeds and conditions',
    next: 'Add one, or name a recipe that has one.',
  });
}
