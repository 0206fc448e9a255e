/** The settings that every recipe over examples takes by `--set`, and the data that such a recipe is made from. */
import * as v from 'valibot';
import type { SetSettings } from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { type GivenTasks, shownGrid, storedHeldOut, storedSources } from '../../worlds/file/stored-set.ts';
import { objectsOfTasks } from '../../worlds/file/stored-tasks.ts';
import { adapterSettings, expectSchedule, optimizerEntries } from '../method-settings.ts';
import { smallSteps } from '../solver.ts';

const positive = v.pipe(v.number(), v.minValue(Number.MIN_VALUE), v.finite());
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** `learningRate`: the default. */
export const exampleEntries = (learningRate: number) => ({
  /** Passes over a round's batch. */
  epochs: v.optional(count, 1),
  /** The largest number of held-out examples in an evaluation. */
  examined: v.optional(count, 500),
  optimizer: v.optional(
    v.strictObject({
      learningRate: v.optional(positive, learningRate),
      warmup: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 20),
      weightDecay: v.optional(v.pipe(v.number(), v.minValue(0), v.finite()), 0),
      clipNorm: v.optional(positive, 1),
      minibatches: v.optional(count, 1),
      ...optimizerEntries,
    }),
    {},
  ),
  /** Trains low-rank adapters in place of all weights. */
  adapter: v.exactOptional(adapterSettings),
});

export const exampleData = <S extends v.GenericSchema>(settings: S) =>
  v.strictObject({
    /** Name of the set of examples, for reports. */
    name: v.pipe(v.string(), v.minLength(1)),
    start: v.string(),
    sources: storedSources,
    heldOut: storedHeldOut,
    showsImages: shownGrid,
    settings,
  });

const trained = v.object(exampleEntries(1));
interface TrainedData extends GivenTasks {
  readonly name: string;
  readonly start: string;
  readonly settings: Pick<v.InferOutput<typeof trained>, 'optimizer' | 'adapter'>;
}

/** What a recipe on examples is named, begins from and trains. Throws `settings.value` where its schedule does not fit. */
export function trainedOn(
  recipe: string,
  data: TrainedData,
  head?: SetSettings['head'],
): Pick<Recipe, 'name' | 'called' | 'startPolicy' | 'sets' | 'stored' | 'showsImages'> {
  const { optimizer, adapter } = data.settings;
  expectSchedule(optimizer);
  return {
    name: `${recipe}-${deriveId(recipe, JSON.stringify(data)).slice(0, 10)}`,
    called: `${recipe} on ${data.name}`,
    startPolicy: data.start,
    ...objectsOfTasks(data),
    sets: {
      [MAIN_SET]: { optimizer: smallSteps(optimizer), ...(adapter && { adapter }), ...(head && { head }) },
    },
  };
}
