/** What an objective is given: the tokens of a policy part, and which sequences they belong to. */
import type * as tf from '../tfjs.ts';
import type { Sequences } from './sequences.ts';
import type { PolicyTokens } from './tokens.ts';

/** What any objective may need; objectives that do not need a field ignore it. */
export interface ObjectiveTokens extends PolicyTokens {
  readonly sequences: Sequences;
  /** log-probabilities of the sampler, nats [T]; needed by decoupled PPO, where `oldLogprobs` are the proximal policy's. */
  readonly behaviour?: tf.Tensor1D;
}
