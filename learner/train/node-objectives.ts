/** Loads the objectives that recipes bring from the modules beside them (objective-modules.ts), in Node. */
import { pathToFileURL } from 'node:url';
import { wrongInput } from '../../core/errors.ts';
import { type LoadObjective, unknownModule } from './objective-modules.ts';

/** @param modules recipes that came from modules, with the module's absolute path */
export const objectiveModules =
  (
    modules: readonly { readonly recipe: { readonly name: string }; readonly file: string }[],
  ): LoadObjective =>
  async (recipe, { module }) => {
    const found = modules.find((one) => one.recipe.name === recipe);
    if (!found) throw unknownModule(recipe, module);
    if (!/^\.{1,2}\//.test(module))
      throw wrongInput(
        'objective.module',
        `The objective ${JSON.stringify(module)} of recipe ${recipe} is no path.`,
        {
          expected: 'a path that begins with ./ or ../, relative to the module of the recipe',
        },
      );
    const url = new URL(module, pathToFileURL(found.file));
    let loaded: { readonly default?: unknown };
    try {
      loaded = (await import(url.href)) as typeof loaded;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw wrongInput(
        'objective.module',
        `The objective ${url.pathname} of recipe ${recipe} cannot be loaded: ${why}.`,
        {
          next: 'Correct the module, or its path in the recipe.',
          cause,
        },
      );
    }
    const loss = loaded.default;
    if (typeof loss !== 'function')
      throw wrongInput(
        'objective.module',
        `The module ${url.pathname} has no function as its default export.`,
        {
          expected: '(tokens, options) => ({ loss, perToken, clippedTokens }), see rollmesh/learner',
        },
      );
    return (tokens, options) => loss(tokens, options);
  };
