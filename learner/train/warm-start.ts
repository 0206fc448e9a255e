/**
 * Supervised warm start: a model with random weights learns its roles from generated demonstrations. Every step has a fresh batch,
 * so no demonstration is seen twice. The loss is on completions only.
 */
import { Random } from '../../core/random.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import type { Demonstration } from '../../worlds/demonstration.ts';
import type { AskedPolicy } from '../../worlds/gate.ts';
import type { Seen, Stage } from '../../worlds/stage.ts';
import type { WarmStart } from '../../worlds/warm-starts.ts';
import { AdamW } from '../nn/adamw.ts';
import { disposeResult, lossAndGrads } from '../nn/loss-and-grads.ts';
import { packSequences } from '../nn/pack.ts';
import type { ParamSet } from '../nn/params.ts';
import { tokenLogProbs } from '../nn/token-log-probs.ts';
import * as tf from '../tfjs.ts';

export interface WarmStartSettings {
  readonly seed: number;
  readonly steps: number;
  /** Demonstrations per step. */
  readonly batch: number;
  readonly learningRate: number;
  /** Steps of linear warm-up; after them the learning rate falls linearly to a tenth. */
  readonly warmup: number;
  readonly weightDecay: number;
  readonly betas: readonly [number, number];
}

export const WARM_START: WarmStartSettings = {
  seed: 0,
  steps: 2500,
  batch: 96,
  learningRate: 3e-3,
  warmup: 50,
  weightDecay: 0.01,
  betas: [0.9, 0.95],
};

export interface WarmStartProgress {
  readonly step: number;
  /** Mean weighted negative log-likelihood of the last step, nats per token. */
  readonly loss: number;
  /** Tokens trained so far, prompts included. */
  readonly tokens: number;
  /** What was seen of the policy after this step, where it was looked at. */
  readonly said?: string;
}

const rateAt = (step: number, { learningRate, warmup, steps }: WarmStartSettings) =>
  learningRate *
  Math.min(step / warmup, 1 - (0.9 * Math.max(0, step - warmup)) / Math.max(1, steps - warmup));

/** The smallest factor on a stage's step size. */
const STAGE_FLOOR = 0.03;

const stageRateAt = (step: number, { learningRate, decay: [from, to] }: Stage, warmup: number) =>
  learningRate *
  Math.min(step / warmup, 1, Math.max(STAGE_FLOOR, 1 - Math.max(0, step - from) / Math.max(1, to - from)));

/** A stretch of steps with an optimiser of its own. */
interface Stretch {
  readonly steps: number;
  readonly ifMissed?: boolean;
  readonly looks?: Stage['looks'];
  readonly demonstrate: Stage['demonstrate'];
  readonly rateAt: (step: number) => number;
}

/** Steps of all stages that are always taken, once through. */
export const stepsOnce = (stages: readonly Stage[]): number =>
  stages.reduce((sum, { steps, ifMissed }) => sum + (ifMissed ? 0 : steps), 0);

/** The most steps that these stages may take. */
export const mostSteps = (stages: readonly Stage[]): number =>
  stages.reduce((sum, { steps, again = 0 }) => sum + steps * (1 + again), 0);

function stretchesOf({ demonstrate, stages }: Taught, settings: WarmStartSettings): Stretch[] {
  if (!stages)
    return [
      {
        steps: settings.steps,
        demonstrate: (random) => Array.from({ length: settings.batch }, () => demonstrate(random)),
        rateAt: (step) => rateAt(step, settings),
      },
    ];
  let left = settings.steps;
  const isCut = left < stepsOnce(stages);
  return stages.map((stage) => {
    const within = stage.ifMissed ? (isCut ? 0 : stage.steps) : left;
    const steps = Math.min(stage.steps, within);
    if (!stage.ifMissed) left -= steps;
    // A stage that is cut short is not gone through again.
    const times = steps === stage.steps ? 1 + (stage.again ?? 0) : 1;
    return {
      steps: times * steps,
      ...(stage.ifMissed ? { ifMissed: true } : {}),
      ...(stage.looks ? { looks: stage.looks } : {}),
      demonstrate: stage.demonstrate,
      rateAt: (step) => stageRateAt(1 + ((step - 1) % steps), stage, settings.warmup),
    };
  });
}

type Taught = Pick<WarmStart, 'demonstrate' | 'stages' | 'weights'>;

/** Does some work with the policy as it is now. */
export type AskNow = <T>(work: (policy: AskedPolicy) => Promise<T>) => Promise<T>;

/** Trains `params` in place. `report` is awaited every `every` steps, where the policy was looked at and after the last; `ask` serves stages that look at the policy. */
export async function warmStart(
  params: ParamSet,
  tokenizer: Tokenizer,
  start: Taught,
  settings: WarmStartSettings,
  every: number,
  report: (progress: WarmStartProgress) => Promise<void>,
  ask: AskNow,
): Promise<void> {
  const random = new Random(`warm-start/${settings.seed}`);
  let [taken, tokens] = [0, 0];
  let faults: Seen['faults'] = {};
  let missed = false;
  for (const { steps, looks, demonstrate, rateAt, ifMissed } of stretchesOf(start, settings)) {
    if (ifMissed && !missed) continue;
    const optimizer = new AdamW(params, {
      betas: settings.betas,
      weightDecay: settings.weightDecay,
      clipNorm: 1,
    });
    let ended = steps === 0;
    for (let step = 1; !ended; step++) {
      const made = trainStep(
        params,
        optimizer,
        tokenizer,
        demonstrate(random, faults),
        start.weights,
        rateAt(step),
      );
      tokens += made.count;
      taken++;
      const seen = looks && step % looks.every === 0 ? await ask(looks.at) : null;
      if (seen) ({ faults } = seen);
      missed = seen?.done !== true;
      ended = step === steps || !missed;
      if (taken % every === 0 || seen || ended)
        await report({
          step: taken,
          loss: (await made.loss.data())[0]!,
          tokens,
          ...(seen ? { said: seen.said } : {}),
        });
      made.loss.dispose();
    }
    optimizer.dispose();
  }
}

/** The completion in stretches, with how much the tokens of each count. */
function partsOf({ completion, given = [] }: Demonstration): { text: string; share: number }[] {
  const bounds = [0, ...given.flat(), completion.length];
  return bounds
    .slice(1)
    .map((to, i) => ({ text: completion.slice(bounds[i], to), share: 1 - (i % 2) }))
    .filter(({ text }) => text);
}

function trainStep(
  params: ParamSet,
  optimizer: AdamW,
  tokenizer: Tokenizer,
  demonstrations: readonly Demonstration[],
  roleWeights: NonNullable<WarmStart['weights']> = {},
  rate: number,
): { loss: tf.Scalar; count: number } {
  const sequences = demonstrations.map((demonstration) => {
    const { prompt, promptWeight = 0 } = demonstration;
    const parts = [{ text: prompt, share: promptWeight }, ...partsOf(demonstration)].map(
      ({ text, share }) => ({
        ids: tokenizer.encode(text),
        share,
      }),
    );
    return {
      ids: parts.flatMap(({ ids }) => ids),
      from: promptWeight ? 1 : parts[0]!.ids.length,
      shares: parts.flatMap(({ ids, share }) => ids.map(() => share)),
    };
  });
  const batch = packSequences(sequences);
  const shares = demonstrations.flatMap(({ role, weight = roleWeights[role] ?? 1 }, i) => {
    const { from, shares } = sequences[i]!;
    return shares.slice(from).map((share) => weight * share);
  });
  // Tokens that count for little do not make the others count for less.
  const divisor = demonstrations.some(({ promptWeight, given }) => promptWeight || given)
    ? shares.reduce((a, b) => a + b, 0)
    : shares.length;
  const weights = shares.map((share) => share / divisor);
  const result = lossAndGrads(params, () => {
    const { logp } = tokenLogProbs(params, batch);
    return tf.neg(tf.sum(tf.mul(logp, tf.tensor1d(weights)))) as tf.Scalar;
  });
  optimizer.step(result.grads, rate).dispose();
  const loss = tf.keep(tf.clone(result.loss));
  disposeResult(result);
  return { loss, count: batch.ids.length };
}
