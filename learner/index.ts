/**
 * `rollmesh/learner`: tensors and the building blocks of losses, for a recipe that brings its own objective. The learner loads the module
 * of that objective; the module is never part of a Worker.
 *
 *     import { logRatios, type ObjectiveFunction, reduce, tf } from 'rollmesh/learner';
 *     const objective: ObjectiveFunction = (tokens) => ({
 *       ...reduce(tf.neg(tf.mul(tf.exp(logRatios(tokens)), tokens.advantages)), tokens),
 *       clippedTokens: tf.scalar(0),
 *     });
 *     export default objective;
 */
export { type DistillationTokens, distillation } from './losses/distillation.ts';
export { type ImportanceTokens, keepInBand, offPolicyMask, truncatedWeights } from './losses/importance.ts';
export type { ObjectiveFunction } from './losses/module-objective.ts';
export type { ObjectiveTokens } from './losses/objective-tokens.ts';
export { policyObjective } from './losses/policy-objective.ts';
export { clippedSurrogate } from './losses/ppo-clip.ts';
export { meanPerSequence, type Sequences, spreadOverTokens, sumPerSequence } from './losses/sequences.ts';
export {
  type ClippedLoss,
  countTokens,
  logRatios,
  masked,
  type PolicyTokens,
  reduce,
  type TokenLoss,
  weightedSum,
} from './losses/tokens.ts';
export { type TurnPairLoss, turnBradleyTerry } from './losses/turn-bradley-terry.ts';
export { CONSTANT, rateFactor, type Schedule } from './nn/schedule.ts';
export * as tf from './tfjs.ts';
