/**
 * Objectives that a recipe brings: `{ kind: 'module', module: './loss.ts' }` names a module beside the recipe's own. Only the learner loads
 * it, because it may import tfjs, which must never reach a Worker.
 */
import { pathToFileURL } from 'node:url';
import { wrongInput } from '../../core/errors.ts';
import type { TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import type { ModuleObjective } from '../../core/rl/objective.ts';
import type { LoadedObjective, ObjectiveFunction } from '../losses/module-objective.ts';

/** Loads the function that a recipe's objective names. */
export type LoadObjective = (recipe: string, objective: ModuleObjective) => Promise<ObjectiveFunction>;

/** @param modules recipes that came from modules, with the module's absolute path */
export const objectiveModules =
  (
    modules: readonly { readonly recipe: { readonly name: string }; readonly file: string }[],
  ): LoadObjective =>
  async (recipe, { module }) => {
    const found = modules.find((one) => one.recipe.name === recipe);
    if (!found)
      throw wrongInput('objective.module', `Where the module of recipe ${recipe} lies is not known.`, {
        expected: `the learner to be started with it, since its objective ${module} lies beside it`,
        next: `Start the learner with --recipe and the path of ${recipe}.`,
      });
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

/** The training plan with the loaded function in each objective of kind `module`. Modules are loaded before the first step is taken. */
export async function withObjectives<L extends TrainingPlan>(
  plan: L,
  recipe: string,
  load: LoadObjective,
): Promise<L> {
  const loaded = async (part: UpdatePart): Promise<UpdatePart> => {
    if (part.kind !== 'policy' || part.objective.kind !== 'module') return part;
    const objective: LoadedObjective = { ...part.objective, compute: await load(recipe, part.objective) };
    return { ...part, objective };
  };
  const updates = await Promise.all(
    plan.updates.map(async (update) => ({ ...update, parts: await Promise.all(update.parts.map(loaded)) })),
  );
  return { ...plan, updates };
}
