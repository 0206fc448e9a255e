/** What a round reports about itself: to the progress line, the page, /metrics and the run's summary. */
import type { Usage } from '../cost/usage.ts';
import type { RoundMonitors } from '../roles/monitors.ts';
import type { Evaluation } from './evaluation.ts';

/** Figures of one role's samples in a round's training. */
export interface RoleTraining {
  readonly samples: number;
  /** Completion tokens. */
  readonly tokens: number;
  /** Mean entropy of the policy's distributions at those tokens before the update, nats. */
  readonly entropy: number;
  /** Mean k3 estimate of KL to version 0 before the update, nats a token. */
  readonly klToStart: number;
}

export interface TrainingReport {
  /** Of the roles whose samples were trained by a policy objective, and of some samples of those whose weights were trained by another. */
  readonly roles: Readonly<Record<string, RoleTraining>>;
  /** Prompt and completion tokens that went through the trainer. */
  readonly tokens: number;
  /** Optimiser steps, of all parameter sets. */
  readonly updates: number;
  /** Steps that were left out because the gradient had exploded; absent = none. */
  readonly skipped?: number;
  /** Means over the round's updates. */
  readonly loss: number;
  readonly gradientNorm: number;
  readonly clipFraction: number;
  readonly learningRate: number;
  /**
   * Learner against rollout runtime, same tokens, same version: |difference| of log-probabilities (nats) and their KL (k3). Over the
   * samples that a policy objective trains; 0 where there are none.
   */
  readonly mismatch: { readonly max: number; readonly mean: number; readonly kl: number };
  /** Importance ratios before the first update: they are 1 but for the mismatch, unless samples are stale. */
  readonly ratio: { readonly min: number; readonly max: number; readonly effectiveSampleShare: number };
}

export interface EvaluationReport extends Evaluation {
  /** The version that was evaluated: the one that the round made, or the one that the run began from. */
  readonly version: number;
}

export interface RoundReport {
  readonly monitors?: RoundMonitors;
  readonly training?: TrainingReport;
  /** Further figures by name, from the recipe's lesson. */
  readonly figures?: Readonly<Record<string, number>>;
  readonly evaluation?: EvaluationReport;
  /** The version that the run began from (0, unless it continues a trained policy), kept in the first round's report. */
  readonly start?: EvaluationReport;
  /** What the operator should know: collapse warnings and refused groups, in words. */
  readonly warnings?: readonly string[];
  /** Messages of the round that arrived more than once and changed nothing. */
  readonly duplicates?: number;
  /** From the round's creation until its last group was judged. */
  readonly rolloutMs?: number;
  readonly learnerMs?: number;
  /** What the learner made the mesh use for the round: answers of the gateway, operations of the queue. */
  readonly used?: Usage;
}
