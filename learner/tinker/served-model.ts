/** A model that a client trains: frozen weights that all models of a base share, an adapter of its own, its optimiser, and the gradients so far. */
import { wrongInput } from '../../core/errors.ts';
import { checkAdapter, readAdapter, writeAdapter } from '../../model/adapter.ts';
import { cispo } from '../losses/cispo.ts';
import { nll } from '../losses/nll.ts';
import { ppoClip } from '../losses/ppo-clip.ts';
import { logRatios, reduce } from '../losses/tokens.ts';
import { adapterTokens } from '../nn/activations.ts';
import { AdamW } from '../nn/adamw.ts';
import { createLora, Lora } from '../nn/lora.ts';
import {
  accumulate,
  disposeResult,
  type LossAndGrads,
  type LossAndMetrics,
  lossAndGrads,
} from '../nn/loss-and-grads.ts';
import type { PackedBatch } from '../nn/pack.ts';
import type { ParamSet } from '../nn/params.ts';
import { tokenLogProbs } from '../nn/token-log-probs.ts';
import { placeTensors, readTensors } from '../nn/trainable.ts';
import * as tf from '../tfjs.ts';
import { groupByTokens } from '../train/minibatches.ts';
import { readOptimizer, writeOptimizer } from '../train/optimizer-file.ts';
import { cut } from '../train/scores.ts';
import type { Datum, ForwardBackward, ForwardBackwardOutput } from './messages.ts';
import { type AdamParams, CLIP_BOUNDS, LOSSES, type LossName } from './wire.ts';

/** What Tinker scales its adapters by, over their rank. */
export const ALPHA = 32;

/** What each loss is given at every position, beside the target. */
const NEEDS: Readonly<Record<LossName, readonly string[]>> = {
  cross_entropy: ['weights'],
  importance_sampling: ['logprobs', 'advantages'],
  ppo: ['logprobs', 'advantages'],
  cispo: ['logprobs', 'advantages'],
};

const refuse = (what: string, expected: string) => wrongInput('tinker.request', what, { expected });

export interface SavedModel {
  readonly adapter: Uint8Array;
  readonly optimizer: Uint8Array;
}

export class ServedModel {
  readonly base: string;
  readonly rank: number;
  readonly #params: ParamSet;
  #lora: Lora;
  #optimizer: AdamW;
  #gradients: LossAndGrads | undefined;

  /** `id` seeds the adapter, which begins with no effect. */
  constructor(base: string, params: ParamSet, rank: number, id: string) {
    this.base = base;
    this.rank = rank;
    this.#params = params;
    this.#lora = createLora(params, { rank, alpha: ALPHA }, id);
    this.#optimizer = new AdamW(this.#lora);
  }

  /** @throws RollmeshError `tinker.request` for a loss or data that are not computed here */
  async forwardBackward({
    data,
    loss,
    config,
    forwardOnly,
  }: Omit<ForwardBackward, 'modelId' | 'seqId'>): Promise<ForwardBackwardOutput> {
    const bounds = this.#checked(loss, data, config);
    const logprobs: Float32Array[] = [];
    const most = adapterTokens(this.#params.config);
    let sum = 0;
    let total: LossAndGrads | undefined;
    try {
      for (const part of groupByTokens(data, most, ({ tokens }) => tokens.length)) {
        const batch = packed(part);
        const computed = (): LossAndMetrics => {
          const { logp } = tokenLogProbs(this.#params, batch, { adapter: this.#lora });
          return { loss: lossOf(loss as LossName, part, logp, bounds), metrics: { logp } };
        };
        const { metrics, ...result } = forwardOnly
          ? withoutGradients(computed)
          : lossAndGrads(this.#lora, computed);
        const [value, rows] = await Promise.all([result.loss.data(), metrics.logp!.data()]);
        sum += value[0]!;
        logprobs.push(...cut(rows as Float32Array, batch.scored.slice()));
        tf.dispose(Object.values(metrics));
        const next = { ...result, metrics: {} };
        if (total) accumulate(total, next);
        else total = next;
      }
    } catch (error) {
      // What failed adds nothing to the next step.
      if (total) disposeResult(total);
      throw error;
    }
    if (forwardOnly) disposeResult(total!);
    else if (this.#gradients) accumulate(this.#gradients, total!);
    else this.#gradients = total!;
    return { logprobs, metrics: { 'loss:sum': sum } };
  }

  /** A step of AdamW by all gradients since the last one. Resolves to the norm of their sum before clipping. */
  async optimStep(params: AdamParams): Promise<Readonly<Record<string, number>>> {
    const gradients = this.#gradients;
    if (!gradients)
      throw refuse('There is no gradient to take a step by.', 'forward_backward before optim_step');
    this.#gradients = undefined;
    Object.assign(this.#optimizer.settings, {
      betas: [params.beta1, params.beta2],
      eps: params.eps,
      weightDecay: params.weight_decay,
      clipNorm: params.grad_clip_norm || Number.POSITIVE_INFINITY,
    });
    const norm = this.#optimizer.step(gradients.grads, params.learning_rate);
    const [value] = await norm.data();
    disposeResult(gradients);
    norm.dispose();
    return { 'grad_norm:mean': value! };
  }

  async save(): Promise<SavedModel> {
    const adapter = { alpha: ALPHA, tensors: await readTensors(this.#lora) };
    return { adapter: writeAdapter(adapter), optimizer: writeOptimizer(await this.#optimizer.exportState()) };
  }

  /** Goes on from what was saved; without `optimizer` with a new one. Gradients so far are forgotten. */
  load({
    adapter: bytes,
    optimizer,
  }: {
    readonly adapter: Uint8Array;
    readonly optimizer?: Uint8Array | undefined;
  }): void {
    const adapter = readAdapter(bytes);
    checkAdapter(this.#params.config, adapter);
    const lora = new Lora({ rank: this.rank, alpha: adapter.alpha }, placeTensors(adapter.tensors));
    this.dispose();
    this.#lora = lora;
    this.#optimizer = new AdamW(lora);
    if (optimizer) this.#optimizer.importState(readOptimizer(optimizer));
  }

  dispose(): void {
    this.#lora.dispose();
    this.#optimizer.dispose();
    if (this.#gradients) disposeResult(this.#gradients);
    this.#gradients = undefined;
  }

  #checked(
    loss: string,
    data: readonly Datum[],
    config: ForwardBackward['config'],
  ): readonly [number, number] {
    if (!LOSSES.some((known) => known === loss))
      throw refuse(`The loss is ${JSON.stringify(loss)}.`, `one of ${LOSSES.join(', ')}`);
    if (!data.length) throw refuse('There are no data.', 'at least one sequence');
    const needs = ['target_tokens', ...NEEDS[loss as LossName]];
    const { vocabSize, maxPositions } = this.#params.config;
    for (const [d, { tokens, inputs }] of data.entries()) {
      if (!tokens.length || tokens.length > maxPositions)
        throw refuse(`Datum ${d} has ${tokens.length} tokens.`, `1 to ${maxPositions}`);
      for (const name of needs)
        if (inputs[name]?.length !== tokens.length)
          throw refuse(
            `Datum ${d} has ${inputs[name]?.length ?? 'no'} ${name} for ${tokens.length} tokens.`,
            'one a token',
          );
      const known = (id: number) => Number.isInteger(id) && id >= 0 && id < vocabSize;
      const strange = [...tokens, ...Array.from(inputs.target_tokens!)].find((id) => !known(id));
      if (strange !== undefined)
        throw refuse(`Datum ${d} has the token ${strange}.`, `tokens of ${this.base}, 0 to ${vocabSize - 1}`);
      for (const name of NEEDS[loss as LossName])
        if (!Array.from(inputs[name]!).every(Number.isFinite))
          throw refuse(`Datum ${d} has ${name} that are not finite.`, 'finite numbers');
    }
    const [low, high] = loss === 'cispo' ? CLIP_BOUNDS.cispo : CLIP_BOUNDS.ppo;
    const { clip_low_threshold: from = low, clip_high_threshold: to = high, ...others } = config;
    const clips = loss === 'ppo' || loss === 'cispo';
    const strange = Object.keys(clips ? others : config)[0];
    if (strange !== undefined)
      throw refuse(
        `The loss ${loss} is given ${strange}.`,
        clips ? 'clip_low_threshold and clip_high_threshold alone' : 'no options',
      );
    if (!(from <= 1 && to >= 1))
      throw refuse(`The ratio is bounded by ${from} and ${to}.`, 'bounds around 1');
    return [from, to];
  }
}

function withoutGradients(computed: () => LossAndMetrics): LossAndGrads {
  const { loss, metrics } = tf.tidy(() => ({ ...computed() }));
  return { loss, metrics, grads: new Map() };
}

/** All positions of all sequences, each with its target. */
function packed(data: readonly Datum[]): PackedBatch {
  const scored = data.map(({ tokens }) => tokens.length);
  const offsets = new Int32Array(data.length + 1);
  for (const [i, length] of scored.entries()) offsets[i + 1] = offsets[i]! + length;
  return {
    ids: Int32Array.from(data.flatMap(({ tokens }) => tokens)),
    offsets,
    rows: Int32Array.from({ length: offsets.at(-1)! }, (_, row) => row),
    targets: Int32Array.from(data.flatMap(({ inputs }) => Array.from(inputs.target_tokens!))),
    scored,
    longest: Math.max(...scored),
  };
}

/** The sum of a loss over all positions, from their log-probabilities [positions]. */
function lossOf(
  loss: LossName,
  data: readonly Datum[],
  logprobs: tf.Tensor1D,
  [low, high]: readonly [number, number],
): tf.Scalar {
  const of = (name: string) =>
    tf.tensor1d(
      data.flatMap(({ inputs }) => Array.from(inputs[name]!)),
      'float32',
    );
  if (loss === 'cross_entropy') return nll({ logprobs, weights: of('weights') }).loss;
  const tokens = {
    logprobs,
    oldLogprobs: of('logprobs'),
    advantages: of('advantages'),
    weights: tf.onesLike(logprobs),
  };
  switch (loss) {
    case 'ppo':
      return ppoClip(tokens, { clipLow: 1 - low, clipHigh: high - 1 }).loss;
    case 'cispo':
      return cispo(tokens, { clipLow: 1 - low, clipHigh: high - 1 }).loss;
    case 'importance_sampling':
      return reduce(tf.neg(tf.mul(tf.exp(logRatios(tokens)), tokens.advantages)), tokens).loss;
  }
}
