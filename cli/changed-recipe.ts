/**
 * A recipe in a world of the user's (`--world`), with settings from `--set`, or both: the changed recipe, and a module of it that every process of the run
 * loads.
 */
import { dirname, relative, resolve } from 'node:path';
import type { Recipe } from '../core/recipe/recipe.ts';
import { withSettings } from '../core/runs/set-path.ts';
import { moduleFile } from '../local/mesh/installation.ts';
import { methodSettings, withMethod } from '../protocols/method-settings.ts';
import { inGame } from '../worlds/own-game.ts';
import { inWorld } from '../worlds/own-world.ts';
import { inShippedWorld, SHIPPED_WORLDS } from '../worlds/shipped-worlds.ts';
import { type OpenedWorld, openRecipes, openWorld } from './recipe-modules.ts';
import type { TaskRecipe } from './task-recipe.ts';
import { writeRecipe } from './written-recipe.ts';

/** The modules of the functions that play a recipe elsewhere. */
const MODULES = {
  inShippedWorld: 'worlds/shipped-worlds',
  inGame: 'worlds/own-game',
  inWorld: 'worlds/own-world',
} as const;

const inPlace = (recipe: Recipe, place: OpenedWorld): Recipe =>
  'game' in place ? inGame(recipe, place.game) : inWorld(recipe, place.world);

/**
 * The recipe that is referred to, in the world of a module, with the assignments `path=value` made; null where nothing is changed. Nothing is written yet.
 * Throws `wrong-input` for a recipe, a world or a setting that is not known, for a world that lacks what the recipe needs, and for values that do not go
 * together.
 */
export async function changedRecipe(
  reference: string,
  assignments: readonly string[],
  world?: string,
): Promise<TaskRecipe | null> {
  if (assignments.length === 0 && world === undefined) return null;
  const settings = withSettings(methodSettings, {}, assignments);
  const { named, modules } = await openRecipes([reference]);
  const [base, module] = [named[0]!, modules[0]];
  const isShipped = world !== undefined && SHIPPED_WORLDS.includes(world);
  const place = world === undefined || isShipped ? null : await openWorld(world);
  const played = isShipped ? inShippedWorld(base, world) : place ? inPlace(base, place) : base;
  const recipe = assignments.length ? withMethod(played, settings) : played;
  return {
    recipe,
    report: [],
    isWeighted: false,
    async write(folder) {
      const literal = JSON.stringify;
      const found = module ? 'base' : `shipped.find(${literal(base.name)})`;
      const placing = isShipped ? 'inShippedWorld' : place && 'game' in place ? 'inGame' : 'inWorld';
      const placed = isShipped
        ? `${placing}(${found}, ${literal(world)})`
        : place
          ? `${placing}(${found}, world)`
          : found;
      const objectives = module ? `, ${literal(`./${relative(resolve(folder), dirname(module.file))}`)}` : '';
      return writeRecipe(folder, {
        name: recipe.name,
        from: '--set and --world',
        imports: [
          module
            ? `import base from ${literal(module.file)};`
            : `import { shipped } from ${literal(moduleFile('recipes/index'))};`,
          ...(place || isShipped
            ? [`import { ${placing} } from ${literal(moduleFile(MODULES[placing]))};`]
            : []),
          ...(place ? [`import world from ${literal(place.file)};`] : []),
          ...(assignments.length
            ? [`import { withMethod } from ${literal(moduleFile('protocols/method-settings'))};`]
            : []),
        ],
        ...(assignments.length
          ? { data: settings, code: `withMethod(${placed}, data${objectives})` }
          : { code: placed }),
      });
    },
  };
}
