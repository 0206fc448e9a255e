/** A recipe whose optimisers take larger or smaller steps. */
import type { Recipe, SetSettings } from 'rollmesh';

const scaled = (set: SetSettings, factor: number): SetSettings =>
  set.optimizer
    ? { ...set, optimizer: { ...set.optimizer, learningRate: set.optimizer.learningRate * factor } }
    : set;

/** The recipe with the step sizes of all its parameter sets multiplied by a factor. */
export const withStepSizes = <R extends Pick<Recipe, 'sets'>>(recipe: R, factor: number): R => ({
  ...recipe,
  sets: Object.fromEntries(Object.entries(recipe.sets).map(([name, set]) => [name, scaled(set, factor)])),
});
