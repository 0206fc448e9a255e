/**
 * One pass over a round's samples before the first update: log-probabilities and entropies under the policy that is about
 * to be trained, and log-probabilities under version 0. They are what ratios are taken against, give the KL term its
 * reference, stale samples their correction, and the report its figures.
 */
import { logRatios, truncatedWeights } from '../../core/rl/importance.ts';
import { klOfLogRatio } from '../../core/rl/kl.ts';
import type { RoleTraining, TrainingReport } from '../../core/schema/report.ts';
import { packSequences } from '../nn/pack.ts';
import type { ParamSet } from '../nn/params.ts';
import { tokenLogProbs } from '../nn/token-log-probs.ts';
import * as tf from '../tfjs.ts';
import { agreement } from './agreement.ts';
import { microBatches, sequenceOf, type TrainingItem } from './minibatches.ts';

/** Of one sample's completion tokens, nats [tokens]. */
export interface ItemScores {
  readonly logprobs: Float32Array;
  readonly entropy: Float32Array;
  readonly reference: Float32Array;
  /**
   * Truncated importance weights min(now / when sampled, cap): they correct for samples of an older version, and are 1
   * but for rounding where the version is the same.
   */
  readonly correction: readonly number[];
}

/** Cap on an importance weight (verl's default). */
const IMPORTANCE_CAP = 2;

export type Scores = ReadonlyMap<TrainingItem, ItemScores>;

export const packItems = (items: readonly TrainingItem[]) => packSequences(items.map(sequenceOf));

export async function scoreItems(
  params: ParamSet,
  start: ParamSet,
  items: readonly TrainingItem[],
  tokenBudget: number,
): Promise<Scores> {
  const scores = new Map<TrainingItem, ItemScores>();
  for (const part of microBatches(items, tokenBudget)) {
    const batch = packItems(part);
    const now = tokenLogProbs(params, batch);
    const then = tokenLogProbs(start, batch);
    const [logprobs, entropy, reference] = (await Promise.all(
      [now.logp, now.entropy, then.logp].map((tensor) => tensor.data()),
    )) as [Float32Array, Float32Array, Float32Array];
    tf.dispose([...Object.values(now), ...Object.values(then)]);
    let at = 0;
    for (const item of part) {
      const end = at + item.sample.ids.length;
      const mine = logprobs.slice(at, end);
      scores.set(item, {
        logprobs: mine,
        entropy: entropy.slice(at, end),
        reference: reference.slice(at, end),
        correction: correctionOf(mine, item.sample.logprobs),
      });
      at = end;
    }
  }
  return scores;
}

function correctionOf(now: Float32Array, sampled: readonly number[]): number[] {
  const tokens = {
    logRatios: logRatios(now, sampled),
    mask: sampled.map(() => 1),
    sequence: sampled.map(() => 0),
  };
  return truncatedWeights(tokens, 'token', IMPORTANCE_CAP);
}

/** Figures by role, and the agreement with the rollouts' log-probabilities. */
export function summarizeScores(
  items: readonly TrainingItem[],
  scores: Scores,
): Pick<TrainingReport, 'roles' | 'mismatch' | 'ratio'> {
  const roles: Record<string, RoleTraining> = {};
  for (const role of new Set(items.map((item) => item.role))) {
    const mine = items.filter((item) => item.role === role);
    const tokens = mine.flatMap((item) => {
      const { logprobs, entropy, reference } = scores.get(item)!;
      return Array.from(logprobs, (logprob, t) => ({
        entropy: entropy[t]!,
        kl: klOfLogRatio('k3', logprob - reference[t]!),
      }));
    });
    const mean = (pick: (token: { entropy: number; kl: number }) => number) =>
      tokens.reduce((sum, token) => sum + pick(token), 0) / tokens.length;
    roles[role] = {
      samples: mine.length,
      tokens: tokens.length,
      entropy: mean((token) => token.entropy),
      klToStart: mean((token) => token.kl),
    };
  }
  const learner = items.flatMap((item) => Array.from(scores.get(item)!.logprobs));
  const rollout = items.flatMap((item) => item.sample.logprobs);
  return { roles, ...agreement(learner, rollout) };
}
