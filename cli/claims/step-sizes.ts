/** A recipe whose optimisers take larger or smaller steps. */

import type { SetSettings } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';

const scaled = (set: SetSettings, factor: number): SetSettings =>
  set.optimizer
    ? { ...set, optimizer: { ...set.optimizer, learningRate: set.optimizer.learningRate * factor } }
    : set;

/** The recipe with the step sizes of all its parameter sets multiplied by a factor. */
export const withStepSizes = (recipe: Recipe, factor: number): Recipe => ({
  ...recipe,
  sets: Object.fromEntries(Object.entries(recipe.sets).map(([name, set]) => [name, scaled(set, factor)])),
});
