/** The recipes that a Worker, a learner or a command knows. Its entry point passes them in; no module below it imports a list. */

import type { HostedEnvironment } from '../episodes/hosted-environment.ts';
import { wrongInput } from '../errors.ts';
import { nearest } from '../text/nearest.ts';
import type { Recipe } from './recipe.ts';

export interface Registry {
  /** In the order given. */
  readonly recipes: readonly Recipe[];
  /** Throws `wrong-input` with the code `recipe.unknown` where no recipe has this name. */
  find(name: string): Recipe;
  /** The environments that are served to others, by name. */
  readonly hosted: ReadonlyMap<string, HostedEnvironment>;
}

/** What people call a recipe, where that is not its name: a field for records and answers. */
export const calledOf = (recipe: Pick<Recipe, 'called'> | undefined): { readonly called?: string } =>
  recipe?.called === undefined ? {} : { called: recipe.called };

/** As many names are listed. */
const LISTED = 8;

/** The name that was meant, or the known ones where they are few. */
function expectedOf(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `${meant}, perhaps`;
  if (known.length > LISTED) return `the name of one of ${known.length} recipes`;
  return `one of ${known.join(', ') || '(no recipe was passed in)'}`;
}

/**
 * `served`: environments that are served beside those of the recipes. Throws `wrong-input`: `recipe.duplicate` where two recipes have the same name,
 * `environment.duplicate` where two environments have.
 */
export function registry(recipes: readonly Recipe[], served: readonly HostedEnvironment[] = []): Registry {
  const byName = new Map<string, Recipe>();
  for (const recipe of recipes) {
    const { name } = recipe;
    if (byName.has(name))
      throw wrongInput('recipe.duplicate', `Two recipes have the name ${JSON.stringify(name)}.`, {
        expected: `a name that none of the others has: ${[...byName.keys()].join(', ')}`,
        next: 'Rename one of them: runs, rounds and policies are told apart by the name of their recipe.',
      });
    byName.set(name, recipe);
  }
  const hosted = new Map<string, HostedEnvironment>();
  for (const environment of [...served, ...recipes.flatMap((recipe) => recipe.hosted ?? [])]) {
    const { name } = environment;
    if (hosted.has(name))
      throw wrongInput('environment.duplicate', `Two environments have the name ${JSON.stringify(name)}.`, {
        expected: `a name that none of the others has: ${[...hosted.keys()].join(', ')}`,
        next: 'Rename one of them in the field `hosted` of its recipe: it is part of an address.',
      });
    hosted.set(name, environment);
  }
  return {
    recipes: [...recipes],
    hosted,
    find(name) {
      const found = byName.get(name);
      if (found) return found;
      throw wrongInput('recipe.unknown', `There is no recipe ${JSON.stringify(name)}.`, {
        expected: expectedOf(name, [...byName.keys()]),
        next: 'Run `npx rollmesh recipe list`, or name the module of a recipe of your own by its path: --recipe ./recipe.ts.',
      });
    },
  };
}
