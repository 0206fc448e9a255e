/** One optimiser step: it accumulates the losses of all parts over micro-batches, then applies AdamW. Nothing is read from the device. */
import type { UpdatePart } from '../../core/plan/training-plan.ts';
import { roomBytes } from '../device/device.ts';
import { adapterTokens, mayKeepLogits, mustRecompute } from '../nn/activations.ts';
import type { AdamW } from '../nn/adamw.ts';
import { accumulate, disposeResult, type LossAndGrads, lossAndGrads } from '../nn/loss-and-grads.ts';
import type { Trainable } from '../nn/trainable.ts';
import * as tf from '../tfjs.ts';
import { byPart, microBatches, temperatureOf, unitTokens } from './minibatches.ts';
import { kindOfPart } from './parts/index.ts';
import { scoredTokens, sumOf, type Unit, type UnitWeights } from './parts/kind.ts';
import { type Model, pack, readOut } from './readouts.ts';
import type { RoundScores } from './scores.ts';

/** A parameter set with its optimiser. */
export interface Learner extends Model {
  /** All tensors of the model that are trained. */
  readonly trainable: Trainable;
  readonly optimizer: AdamW;
}

/** The figures of a step, on the device until the round's end: [loss, gradient norm before clipping, then each part's loss and count]. */
export interface StepRecord {
  readonly parts: readonly UpdatePart[];
  /** Float32 [2 + 2 · parts]. */
  readonly numbers: tf.Tensor1D;
}

type WeightOf = ReadonlyMap<Unit, UnitWeights>;

/** The weights of each unit, computed over the whole step before it is cut into micro-batches. */
export const unitWeights = (step: readonly Unit[]): WeightOf =>
  new Map(
    byPart(step).flatMap((units) => {
      const { part } = units[0]!;
      const weights = kindOfPart(part).weights(part, units);
      return units.map((unit, i) => [unit, weights[i]!] as const);
    }),
  );

/** Most tokens of a micro-batch of a step. */
export const stepTokens = ({ adapter, params }: Learner, tokenBudget: number): number =>
  adapter ? Math.min(tokenBudget, adapterTokens(params.config)) : tokenBudget;

/** Trains the set in place. Where the gradient is not finite or has exploded, the optimiser leaves the weights unchanged, see AdamW. */
export function updateStep(
  learner: Learner,
  step: readonly Unit[],
  scores: RoundScores,
  {
    rate,
    optimistic,
    tokenBudget,
  }: { readonly rate: number; readonly optimistic: boolean; readonly tokenBudget: number },
): StepRecord {
  const { total, figures } = stepGradient(learner, step, scores, tokenBudget);
  const norm = learner.optimizer.step(total.grads, rate, { optimistic });
  const numbers = tf.keep(
    tf.tidy(() => tf.concat1d([tf.stack([total.loss, norm]) as tf.Tensor1D, ...figures.values()])),
  );
  disposeResult(total);
  tf.dispose([norm, ...figures.values()]);
  return { parts: [...figures.keys()], numbers };
}

/**
 * The gradient of a step's loss, summed over micro-batches, and the figures [loss, count] of each part, in the order of the step. All are the caller's to dispose of.
 */
export function stepGradient(
  learner: Learner,
  step: readonly Unit[],
  scores: RoundScores,
  tokenBudget: number,
): { readonly total: LossAndGrads; readonly figures: ReadonlyMap<UpdatePart, tf.Tensor1D> } {
  const weights = unitWeights(step);
  let total: LossAndGrads | undefined;
  // The order of insertion is that in which parts first come in the step.
  const figures = new Map<UpdatePart, tf.Tensor1D>();
  try {
    for (const units of microBatches(step, tokenBudget)) {
      const runs = byPart(units);
      const next = lossAndGrads(learner.trainable, () => batchLoss(learner, runs, weights, scores));
      for (const [i, [{ part }]] of runs.map((run) => run as [Unit]).entries()) {
        const figure = next.metrics[i] as tf.Tensor1D;
        const before = figures.get(part);
        figures.set(part, before ? tf.keep(tf.add(before, figure)) : figure);
        if (before) tf.dispose([before, figure]);
      }
      if (total) accumulate(total, { ...next, metrics: {} });
      else total = { ...next, metrics: {} };
    }
  } catch (error) {
    if (total) disposeResult(total);
    tf.dispose([...figures.values()]);
    throw error;
  }
  return { total: total!, figures };
}

/** One forward pass for all parts of a micro-batch; each part's loss gets only its own rows. Metrics: [loss, count] of each run of units. */
function batchLoss(
  model: Learner,
  runs: readonly (readonly Unit[])[],
  weights: WeightOf,
  scores: RoundScores,
): { loss: tf.Scalar; metrics: Record<string, tf.Tensor> } {
  const { part: first } = runs[0]![0]!;
  const { readout } = kindOfPart(first);
  const units = runs.flat();
  const batch = pack(units.flatMap((unit) => unit.sequences));
  const { config } = model.params;
  const [tokens, trainedBytes, room] = [sumOf(units, unitTokens), bytesOf(model.trainable), roomBytes()];
  const outputs = readOut(model, batch, readout, {
    temperature: temperatureOf(first),
    recompute: mustRecompute(config, tokens, trainedBytes, room),
    keepLogits: mayKeepLogits(config, tokens, batch.targets.length, trainedBytes, room),
  });
  let at = 0;
  const losses = runs.map((units) => {
    const { part } = units[0]!;
    const rows =
      readout === 'classes' ? sumOf(units, ({ sequences }) => sequences.length) : sumOf(units, scoredTokens);
    const from = at;
    at += rows;
    return kindOfPart(part).loss(part, {
      units,
      model,
      weights: units.map((unit) => weights.get(unit)!),
      scores: units.map((unit) => scores.of(unit)),
      outputs: outputs.map((tensor) => rowsOf(tensor, from, rows)),
    });
  });
  return {
    loss: losses.map(({ loss }) => loss).reduce((sum, loss) => tf.add(sum, loss)),
    metrics: Object.fromEntries(losses.map(({ loss, counted }, i) => [i, tf.stack([loss, counted])])),
  };
}

/** Bytes of the float32 tensors. */
const bytesOf = ({ tensors }: Trainable): number =>
  [...tensors.values()].reduce((sum, { size }) => sum + 4 * size, 0);

function rowsOf(tensor: tf.Tensor, from: number, rows: number): tf.Tensor {
  const [, ...others] = tensor.shape;
  return tf.slice(tensor, [from, ...others.map(() => 0)], [rows, ...others]);
}
