/** A recipe with settings from `--set`: the changed recipe, and a module of it that every process of the run loads. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { withSettings } from '../core/runs/set-path.ts';
import { moduleFile } from '../local/mesh/installation.ts';
import { methodSettings, withMethod } from '../protocols/method-settings.ts';
import { openRecipes } from './recipe-modules.ts';
import type { TaskRecipe } from './task-recipe.ts';

/**
 * The recipe that is referred to, with the assignments `path=value` made; null where there are none. Nothing is written yet. Throws
 * `wrong-input` for a recipe or a setting that is not known, and for values that do not go together.
 */
export async function changedRecipe(
  reference: string,
  assignments: readonly string[],
): Promise<TaskRecipe | null> {
  if (assignments.length === 0) return null;
  const settings = withSettings(methodSettings, {}, assignments);
  const { named, modules } = await openRecipes([reference]);
  const [base, module] = [named[0]!, modules[0]];
  const recipe = withMethod(base, settings);
  return {
    recipe,
    report: [],
    isWeighted: false,
    async write(folder) {
      const into = resolve(folder);
      await mkdir(into, { recursive: true });
      const file = join(into, `${recipe.name}.mjs`);
      const data = `JSON.parse(${JSON.stringify(JSON.stringify(settings))})`;
      const made = module
        ? [
            `import base from ${JSON.stringify(module.file)};`,
            '',
            `export default withMethod(base, ${data}, ${JSON.stringify(`./${relative(into, dirname(module.file))}`)});`,
          ]
        : [
            `import { shipped } from ${JSON.stringify(moduleFile('recipes/index'))};`,
            '',
            `export default withMethod(shipped.find(${JSON.stringify(base.name)}), ${data});`,
          ];
      const lines = [
        '/** Written by rollmesh from --set: do not edit. */',
        `import { withMethod } from ${JSON.stringify(moduleFile('protocols/method-settings'))};`,
        ...made,
      ];
      await writeFile(file, `${lines.join('\n')}\n`);
      return file;
    },
  };
}
