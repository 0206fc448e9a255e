/** An objective as a recipe may bring it: PPO's clipped surrogate, put together from the public pieces. */
import { clippedSurrogate, logRatios, type ObjectiveFunction, tf } from '../../learner/index.ts';

const bounds = (options: Readonly<Record<string, unknown>> = {}) => ({
  clipLow: Number(options.clipLow),
  clipHigh: Number(options.clipHigh),
});

const clipped: ObjectiveFunction = (tokens, options) =>
  clippedSurrogate(tf.exp(logRatios(tokens)), tokens, bounds(options));

export default clipped;
