/**
 * One pass over a round's samples before the first update: log-probabilities and entropies under the policy that is about
 * to be trained, and log-probabilities under version 0. They give the KL term its reference and the report its figures.
 */
import { klOfLogRatio } from '../../core/rl/kl.ts';
import type { RoleTraining, TrainingReport } from '../../core/schema/report.ts';
import { packSequences } from '../nn/pack.ts';
import type { ParamSet } from '../nn/params.ts';
import { tokenLogProbs } from '../nn/token-log-probs.ts';
import * as tf from '../tfjs.ts';
import { agreement } from './agreement.ts';
import { microBatches, type TrainingItem } from './minibatches.ts';

/** Of one sample's completion tokens, nats [tokens]. */
export interface ItemScores {
  readonly logprobs: Float32Array;
  readonly entropy: Float32Array;
  readonly reference: Float32Array;
}

export type Scores = ReadonlyMap<TrainingItem, ItemScores>;

export const packItems = (items: readonly TrainingItem[]) =>
  packSequences(
    items.map(({ sample }) => ({ ids: [...sample.prompt, ...sample.ids], from: sample.prompt.length })),
  );

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
      scores.set(item, {
        logprobs: logprobs.slice(at, end),
        entropy: entropy.slice(at, end),
        reference: reference.slice(at, end),
      });
      at = end;
    }
  }
  return scores;
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
