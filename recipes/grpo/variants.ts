/**
 * Every policy-gradient method that differs from GRPO in how rewards become advantages, in the objective, or in how tokens are averaged:
 * one row each, with the settings of its paper or of the framework that is named. ρ is the ratio of the trained policy to the old one.
 */
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import type { Aggregation } from '../../core/rl/aggregation.ts';
import {
  batchBaseline,
  groupCentredBatchScaled,
  grpo,
  maxRl,
  meanCentred,
  raw,
  rloo,
  roleAdvantages,
} from '../../core/rl/estimators/index.ts';
import type { PolicyObjectiveSpec } from '../../core/rl/objective.ts';
import type { Key, Maybe } from '../../core/rl/types.ts';
import { nearStart } from '../../protocols/objectives.ts';

/** Maps rewards [n] and groups [n] to one advantage for each sample [n]. */
export type Estimator = (rewards: ArrayLike<Maybe>, groups: ArrayLike<Key>) => Maybe[];

/** Against a baseline that a version carries: the rewards of one role [n] and its baseline, to advantages [n] and the next baseline. */
export interface RunningBaseline {
  readonly against: (
    rewards: ArrayLike<Maybe>,
    baseline: number,
  ) => { advantages: Maybe[]; baseline: number };
}

export interface Method {
  readonly description: string;
  /** How rewards become advantages: one for each sample, by REINFORCE++'s whitened returns, by a critic (GAE), or against a running baseline. */
  readonly credit: Estimator | 'whitened-returns' | 'critic' | RunningBaseline;
  readonly objective: PolicyObjectiveSpec;
  /** `maxNew` is the longest answer in tokens. */
  readonly aggregation: (maxNew: number) => Aggregation;
  readonly kl?: NonNullable<PolicyPart['kl']>;
}

const CLIP = { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2 } as const;
const bySequence = (): Aggregation => ({ mode: 'seq-mean-token-mean' });
const byToken = (): Aggregation => ({ mode: 'token-mean' });
const bySum = (): Aggregation => ({ mode: 'seq-mean-token-sum' });

/** The variant that is used without `--variant`. */
export const GRPO: Method = {
  description:
    'A = (r − mean)/deviation of the group, ρ clipped to [0.8, 1.2], mean over each answer’s tokens',
  credit: grpo,
  objective: CLIP,
  aggregation: bySequence,
};

export const VARIANTS: Readonly<Record<string, Method>> = {
  kl: {
    ...GRPO,
    description: 'GRPO with its paper’s penalty: 0.04 times the k3 estimate of KL to version 0',
    ...nearStart(0.04),
  },
  'dr-grpo': {
    ...GRPO,
    description:
      'Dr.GRPO: centred by the group and not divided, sums over tokens divided by the longest answer',
    credit: meanCentred,
    aggregation: (maxNew) => ({ mode: 'seq-sum-constant', length: maxNew }),
  },
  dapo: {
    ...GRPO,
    description: 'DAPO’s objective: ρ clipped to [0.8, 1.28], mean over all tokens',
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 },
    aggregation: byToken,
  },
  'batch-scaled': {
    ...GRPO,
    description: 'centred by the group and divided by the deviation of the whole batch',
    credit: groupCentredBatchScaled,
  },
  rloo: {
    description:
      'RLOO: against the mean of the others in the group, policy gradient without a ratio, sum over each answer’s tokens',
    credit: rloo,
    objective: { kind: 'reinforce' },
    aggregation: bySum,
  },
  reinforce: {
    description: 'REINFORCE: the bare reward, no baseline and no ratio',
    credit: (rewards) => raw(rewards),
    objective: { kind: 'reinforce' },
    aggregation: bySum,
  },
  rae: {
    description:
      'RAE (SPIRAL): against a running mean of the role’s own rewards, decay 0.95 a reward, policy gradient without a ratio',
    credit: {
      against: (rewards, baseline) => {
        const role = 0;
        const { advantages, baselines } = roleAdvantages(
          rewards,
          Array.from(rewards, () => role),
          { baselines: new Map([[role, baseline]]) },
        );
        return { advantages, baseline: baselines.get(role)! };
      },
    },
    objective: { kind: 'reinforce' },
    aggregation: bySum,
  },
  'batch-baseline': {
    description:
      'EvoLMM’s baseline: against a running mean of the batches’ mean rewards, momentum 0.9, policy gradient without a ratio',
    credit: { against: batchBaseline },
    objective: { kind: 'reinforce' },
    aggregation: bySum,
  },
  'reinforce-plus-plus': {
    description:
      'REINFORCE++: returns whitened over all tokens of the batch, ρ clipped to [0.8, 1.2], mean over all tokens',
    credit: 'whitened-returns',
    objective: CLIP,
    aggregation: byToken,
  },
  maxrl: {
    ...GRPO,
    description: 'MaxRL: (r − mean)/mean of the group, so that rare successes weigh most',
    credit: maxRl,
  },
  gspo: {
    ...GRPO,
    description: 'GSPO: the geometric mean of an answer’s ratios, clipped to [1 − 3e-4, 1 + 4e-4]',
    objective: { kind: 'gspo', clipLow: 3e-4, clipHigh: 4e-4 },
  },
  cispo: {
    ...GRPO,
    description:
      'CISPO: the ratio as a weight, at most 5, through which no gradient flows; mean over all tokens',
    objective: { kind: 'cispo', clipLow: 1, clipHigh: 4 },
    aggregation: byToken,
  },
  gmpo: {
    ...GRPO,
    description: 'GMPO: the geometric mean of an answer’s clipped ratios, log-ratios within ±0.4 nats',
    objective: { kind: 'gmpo', clipLow: 0.4, clipHigh: 0.4 },
  },
  sapo: {
    ...GRPO,
    description: 'SAPO: a soft gate in place of the clip, temperatures 1 and 1.05',
    objective: { kind: 'sapo', tauPositive: 1, tauNegative: 1.05 },
  },
  aipo: {
    description: 'AIPO: centred by the group, importance weights of at most 2 against the sampler itself',
    credit: meanCentred,
    objective: { kind: 'aipo', maxRatio: 2 },
    aggregation: byToken,
  },
  'dppo-tv': {
    ...GRPO,
    description:
      'DPPO: a token counts while its probability has moved by less than 0.2, with a small square penalty',
    objective: { kind: 'dppo-tv', delta: 0.2, squareWeight: 1e-3 },
    aggregation: byToken,
  },
  'decoupled-ppo': {
    ...GRPO,
    description:
      'decoupled PPO: the clip is around a proximal policy, and weights of at most 5 correct for the sampler',
    objective: { kind: 'decoupled-ppo', clipLow: 0.2, clipHigh: 0.2, cap: 5 },
  },
  ppo: {
    description:
      'PPO: a critic of its own, generalised advantage estimation with γ = 1 and λ = 0.95, whitened over all tokens',
    credit: 'critic',
    objective: CLIP,
    aggregation: byToken,
  },
};
