/**
 * Objectives that a recipe brings: `{ kind: 'module', module: './loss.ts' }` names a module beside the recipe's own. Only the learner loads
 * it, because it may import tfjs, which must never reach a Worker.
 */
import { wrongInput } from '../../core/errors.ts';
import type { TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import type { ModuleObjective } from '../../core/rl/objective.ts';
import type { LoadedObjective, ObjectiveFunction } from '../losses/module-objective.ts';

/** Loads the function that a recipe's objective names. */
export type LoadObjective = (recipe: string, objective: ModuleObjective) => Promise<ObjectiveFunction>;

/** For a program that loads no modules. */
export const noObjectives: LoadObjective = (recipe, { module }) =>
  Promise.reject(unknownModule(recipe, module));

/** The error that says of a recipe that nobody told where its module lies. */
export const unknownModule = (recipe: string, module: string) =>
  wrongInput('objective.module', `Where the module of recipe ${recipe} lies is not known.`, {
    expected: `the learner to be started with it, since its objective ${module} lies beside it`,
    next: `Start the learner with --recipe and the path of ${recipe}.`,
  });

/** A part with the loaded function where its objective is of kind `module`. */
export async function withObjective(
  part: UpdatePart,
  recipe: string,
  load: LoadObjective,
): Promise<UpdatePart> {
  if (part.kind !== 'policy' || part.objective.kind !== 'module') return part;
  const objective: LoadedObjective = { ...part.objective, compute: await load(recipe, part.objective) };
  return { ...part, objective };
}

/** The training plan with such parts. Modules are loaded before the first step is taken. */
export async function withObjectives<L extends TrainingPlan>(
  plan: L,
  recipe: string,
  load: LoadObjective,
): Promise<L> {
  const loaded = (parts: readonly UpdatePart[]) =>
    Promise.all(parts.map((part) => withObjective(part, recipe, load)));
  const updates = await Promise.all(
    plan.updates.map(async (update) => ({ ...update, parts: await loaded(update.parts) })),
  );
  return { ...plan, updates };
}
