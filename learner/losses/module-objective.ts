/** A user-defined objective: a function that learner/train/objective-modules.ts has loaded. */
import { wrongInput } from '../../core/errors.ts';
import type { ModuleObjective } from '../../core/rl/objective.ts';
import * as tf from '../tfjs.ts';
import type { ObjectiveTokens } from './objective-tokens.ts';
import type { ClippedLoss } from './tokens.ts';

/**
 * The type of an objective module's default export. Gradients flow from `loss` [] to `tokens.logprobs` [T] only; everything else in
 * `tokens` is constant. The weights [T] contain the part's aggregation: `loss` is the sum of weights · perToken.
 */
export type ObjectiveFunction = (tokens: ObjectiveTokens, options: ModuleObjective['options']) => ClippedLoss;

export interface LoadedObjective extends ModuleObjective {
  readonly compute: ObjectiveFunction;
}

const isLoaded = (spec: ModuleObjective): spec is LoadedObjective => 'compute' in spec;

/** Throws `wrong-input` where the module was not loaded, or what it returns is no loss. */
export function moduleObjective(tokens: ObjectiveTokens, spec: ModuleObjective): ClippedLoss {
  if (!isLoaded(spec)) throw new Error(`internal: the objective ${spec.module} was not loaded`);
  const result = spec.compute(tokens, spec.options ?? {});
  const scalars = [result?.loss, result?.clippedTokens];
  if (scalars.every((value) => value instanceof tf.Tensor && value.rank === 0)) return result;
  throw wrongInput('objective.result', `The objective ${spec.module} returned no loss.`, {
    expected: 'an object with the scalars `loss` and `clippedTokens`, both tensors of rank 0',
  });
}
