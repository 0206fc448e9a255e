/** What a round reports about itself: to the progress line, the page, /metrics and the run's summary. */
import type { HeldOut, JudgeAccuracy } from '../roles/evaluate.ts';
import type { RoundMonitors } from '../roles/monitors.ts';

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
  readonly roles: Readonly<Record<string, RoleTraining>>;
  /** Prompt and completion tokens that went through the trainer. */
  readonly tokens: number;
  readonly updates: number;
  /** Means over the round's updates. */
  readonly loss: number;
  readonly gradientNorm: number;
  readonly clipFraction: number;
  readonly learningRate: number;
  /** Learner against rollout runtime, same tokens, same version: |difference| of log-probabilities (nats) and their KL (k3). */
  readonly mismatch: { readonly max: number; readonly mean: number; readonly kl: number };
  /** Importance ratios before the first update: they are 1 but for the mismatch, unless samples are stale. */
  readonly ratio: { readonly min: number; readonly max: number; readonly effectiveSampleShare: number };
}

export interface EvaluationReport {
  /** The version that was evaluated: the one this round made, or version 0 before the first. */
  readonly version: number;
  readonly heldOut: HeldOut;
  readonly judge: JudgeAccuracy;
}

export interface RoundReport {
  readonly monitors?: RoundMonitors;
  readonly training?: TrainingReport;
  readonly evaluation?: EvaluationReport;
  /** Version 0, evaluated before the first round and kept in that round's report: where the curves begin. */
  readonly start?: EvaluationReport;
  /** What the operator should know: collapse warnings and refused groups, in words. */
  readonly warnings?: readonly string[];
  /** Messages of the round that arrived more than once and changed nothing. */
  readonly duplicates?: number;
  /** From the round's creation until its last group was judged. */
  readonly rolloutMs?: number;
  readonly learnerMs?: number;
}
