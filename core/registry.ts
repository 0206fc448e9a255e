/** The recipes that a Worker, a learner or a command knows. Its entry point passes them in; no module below it imports a list. */
import { wrongInput } from './errors.ts';
import type { Recipe } from './recipe.ts';

export interface Registry {
  /** In the order given. */
  readonly recipes: readonly Recipe[];
  /** Throws `wrong-input` with the code `recipe.unknown` where no recipe has this name. */
  find(name: string): Recipe;
}

/** Throws `wrong-input` with the code `recipe.duplicate` where two recipes have the same name. */
export function registry(recipes: readonly Recipe[]): Registry {
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
  return {
    recipes: [...recipes],
    find(name) {
      const found = byName.get(name);
      if (found) return found;
      throw wrongInput('recipe.unknown', `There is no recipe ${JSON.stringify(name)}.`, {
        expected: `one of ${[...byName.keys()].join(', ') || '(no recipe was passed in)'}`,
        next: 'Run `npm run recipe -- list`, or name the module of a recipe of your own by its path: --recipe ./recipe.ts.',
      });
    },
  };
}
