/** Some layers of a set, as what is trained of it: `Update.only`. */
import { wrongInput } from '../../core/errors.ts';
import type { LayersOnly } from '../../core/plan/training-plan.ts';
import { AdamW } from '../nn/adamw.ts';
import type { Trainable } from '../nn/trainable.ts';
import { type SetLearner, skipNormOf } from './held-sets.ts';

/** The tensors of these layers that are trained, by name: weights, or factors of adapters. */
export const tensorsOfLayers = ({ tensors }: Trainable, layers: readonly number[]): Trainable['tensors'] =>
  new Map(
    [...tensors].filter(([name]) => {
      const layer = /(?:^|\.)layers\.(\d+)\./.exec(name)?.[1];
      return layer !== undefined && layers.includes(Number(layer));
    }),
  );

/**
 * The learner with these layers alone and an optimiser that begins at zero, which is the caller's to dispose of. Its rate does not change.
 * @throws RollmeshError `training-plan.layers` for layers that the model does not have or that nothing is trained of, none, or a rate that is no positive number
 */
export function layersAlone(learner: SetLearner, { layers, learningRate }: LayersOnly): SetLearner {
  const count = learner.params.config.layers.length;
  const known = layers.every((layer) => Number.isInteger(layer) && layer >= 0 && layer < count);
  if (!layers.length || !known || new Set(layers).size < layers.length)
    throw wrongInput('training-plan.layers', `An update trains the layers [${layers.join(', ')}] alone.`, {
      expected: `at least one of 0 to ${count - 1}, each once`,
    });
  if (!(learningRate > 0 && Number.isFinite(learningRate)))
    throw wrongInput(
      'training-plan.layers',
      `An update of some layers has a learning rate of ${learningRate}.`,
      {
        expected: 'a positive number',
      },
    );
  const bare = layers.find((layer) => !tensorsOfLayers(learner.trainable, [layer]).size);
  if (bare !== undefined)
    throw wrongInput(
      'training-plan.layers',
      `An update trains the layer ${bare}, and the adapter leaves that as it is.`,
      { expected: 'layers that the adapter has factors for' },
    );
  const { optimizer: _, ...rest } = learner;
  const { betas, weightDecay, clipNorm } = learner.settings;
  const trainable = { tensors: tensorsOfLayers(learner.trainable, layers) };
  return {
    ...rest,
    trainable,
    optimizer: new AdamW(trainable, {
      betas,
      weightDecay,
      clipNorm,
      skipNorm: skipNormOf(learner.settings),
    }),
    settings: { ...learner.settings, learningRate, warmup: 0, schedule: 'constant' },
  };
}
