/** The settings that every recipe over examples takes by `--set`, and the data that such a recipe is made from. */
import * as v from 'valibot';
import { storedHeldOut, storedSources } from '../../worlds/file/stored-set.ts';
import { adapterSettings, optimizerEntries } from '../method-settings.ts';

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
    settings,
  });
