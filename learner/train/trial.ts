/**
 * What a set would say after updates of a few layers: `LearnTools.trial`. The steps change copies of those layers, beside which all else is the set's own, so that nothing
 * has to be undone. All that it depends on is in the parent version and in the records.
 */
import { wrongInput } from '../../core/errors.ts';
import type { Sequence } from '../../core/plan/training-plan.ts';
import { Lora } from '../nn/lora.ts';
import { copyOf } from '../ops/in-place.ts';
import * as tf from '../tfjs.ts';
import type { SetLearner } from './held-sets.ts';
import { tensorsOfLayers } from './layers-alone.ts';
import { lossReferences } from './parts/index.ts';
import type { PlannedUpdate } from './plan.ts';
import { type FindModel, RoundScores, readEach } from './scores.ts';
import { takeSteps } from './steps.ts';

/**
 * Log-probabilities at temperature 1, nats [sequences][ids].
 * @throws RollmeshError `training-plan.layers` where an update names no layers; what `takeSteps` throws
 */
export async function trial(
  learner: SetLearner,
  planned: readonly PlannedUpdate[],
  sequences: readonly Sequence[],
  { tokenBudget, find }: { readonly tokenBudget: number; readonly find: FindModel },
): Promise<Float32Array[]> {
  const layers = planned.flatMap(({ only }) => {
    if (only) return only.layers;
    throw wrongInput('training-plan.layers', 'An update that is tried names no layers.', {
      expected: '`only`, with the layers that it trains',
    });
  });
  const { params, adapter } = learner;
  const copies = new Map<string, tf.Tensor>();
  const scores = new RoundScores(tokenBudget, find);
  try {
    for (const [name, tensor] of tensorsOfLayers(learner.trainable, layers)) copies.set(name, copyOf(tensor));
    const tried: SetLearner = {
      ...learner,
      ...(adapter
        ? { adapter: new Lora(adapter.settings, new Map([...adapter.tensors, ...copies])) }
        : { params: params.having(copies) }),
      trainable: { tensors: copies },
    };
    for (const { set, epochs } of planned) await scores.add(set, learner, epochs[0]!.flat(), lossReferences);
    await takeSteps(planned, { learner: async () => tried }, scores, tokenBudget);
    return (await readEach(tried, sequences, 'logprobs', tokenBudget)).map(([logprobs]) => logprobs!);
  } finally {
    tf.dispose([...copies.values()]);
    scores.dispose();
  }
}
