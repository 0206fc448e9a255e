/** The input of an objective: the tokens of a policy part, and the sequences that they belong to. */
import type * as tf from '../tfjs.ts';
import type { Sequences } from './sequences.ts';
import type { PolicyTokens } from './tokens.ts';

/** All fields that any objective may need; an objective ignores those that it does not need. */
export interface ObjectiveTokens extends PolicyTokens {
  readonly sequences: Sequences;
  /** log-probabilities of the sampler, nats [T]; needed by decoupled PPO, where `oldLogprobs` are the proximal policy's. */
  readonly behaviour?: tf.Tensor1D;
}
