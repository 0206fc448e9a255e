/** The report of a round: the progress line, the page, /metrics and the run's summary show it. */
import * as v from 'valibot';
import { usageCounts } from '../cost/usage.ts';
import { changes, evaluationResult } from './evaluation.ts';
import { count, figures, finite, measured } from './numbers.ts';

/** Judgments by verdict and by the oracle’s word; void = no valid verdict. */
export const judgeConfusion = v.object({
  rightAsRight: count,
  rightAsWrong: count,
  wrongAsRight: count,
  wrongAsWrong: count,
  void: count,
});
export type JudgeConfusion = Readonly<v.InferOutput<typeof judgeConfusion>>;

/** Collapse monitors of a round. A share whose denominator is empty is null. */
export const roundMonitors = v.object({
  /** The number of groups and rollouts that the figures cover; a rollout may have several turns, each of which carries the whole's reward. */
  groups: count,
  rollouts: count,
  /** Mean reward of the rated rollouts, and the share of the rollouts that answer tasks whose answer is exact. */
  reward: measured,
  gold: measured,
  /** reward - gold; null where the reward is on another scale than a share of right answers. */
  gap: measured,
  /** Standard error of the gap over groups, whose rollouts are not independent; absent where there is no gap or one group. */
  gapError: v.exactOptional(measured),
  /** Share of rollouts of which every turn has the outcome `ok`. */
  formatRate: measured,
  workedShare: measured,
  /** Mean number of tokens that the solver writes in a rollout. */
  length: measured,
  /** Share of groups whose rollouts all got the same reward: compared with one another, they carry no signal. */
  zeroVariance: measured,
  missingRewards: count,
  proposals: count,
  invalidRate: measured,
  duplicateRate: measured,
  difficulty: measured,
  passRate: measured,
  judge: judgeConfusion,
  /** Mean of the hit rates on right and on wrong solutions; a void verdict is a miss. */
  judgeBalancedAccuracy: measured,
  tokens: count,
});
export type RoundMonitors = Readonly<v.InferOutput<typeof roundMonitors>>;

/** Figures of one role's samples in a round's training. */
export const roleTraining = v.object({
  samples: count,
  /** Completion tokens. */
  tokens: count,
  /** Mean entropy of the policy's distributions at those tokens before the update, nats. */
  entropy: measured,
  /** Mean k3 estimate of KL to version 0 before the update, nats a token. */
  klToStart: measured,
});
export type RoleTraining = Readonly<v.InferOutput<typeof roleTraining>>;

/** Loss and gradient are finite: a round in which one is not is never published. A figure that came to no finite number is null. */
export const trainingReport = v.object({
  /** Roles whose samples a policy objective trained, and some samples of those whose weights another objective trained. */
  roles: v.record(v.string(), roleTraining),
  /** The kinds of parts that were trained, such as `policy` or `distillation`, in alphabetical order; absent where nothing says so. */
  kinds: v.exactOptional(v.array(v.string())),
  /** Share of the samples of policy objectives with an advantage other than 0; absent where there are none, or nothing says so. */
  withAdvantage: v.exactOptional(measured),
  /** Prompt and completion tokens that went through the trainer. */
  tokens: count,
  /** The number of optimiser steps, over all parameter sets. */
  updates: count,
  /** The number of steps left out because the gradient had exploded; absent = none. */
  skipped: v.exactOptional(count),
  /** Means over the round's updates. */
  loss: finite,
  /** Null where a server that trained does not tell it. */
  gradientNorm: measured,
  clipFraction: finite,
  learningRate: finite,
  /**
   * The learner compared with the rollout runtime on the same tokens: |difference| of log-probabilities (nats) and their KL
   * (k3), over the samples that a policy objective trains; 0 where there are none. Where samples are older than the version that is trained, it holds what was
   * trained since, too.
   */
  mismatch: v.object({ max: measured, mean: measured, kl: measured }),
  /** Importance ratios before the first update: they are 1 but for the mismatch, unless samples are stale. */
  ratio: v.object({ min: measured, max: measured, effectiveSampleShare: measured }),
});
export type TrainingReport = Readonly<v.InferOutput<typeof trainingReport>>;

export const earnings = v.record(v.string(), measured);
export type Earnings = Readonly<v.InferOutput<typeof earnings>>;

export const evaluationReport = v.object({
  ...evaluationResult.entries,
  /** The version that was evaluated: the one that the round made, or the one that the run began from. */
  version: count,
  /** What may be said of the change since the version that the run began from; absent for that version itself. */
  changes: v.exactOptional(changes),
});
export type EvaluationReport = Readonly<v.InferOutput<typeof evaluationReport>>;

export const roundReport = v.object({
  monitors: v.exactOptional(roundMonitors),
  training: v.exactOptional(trainingReport),
  /** Further figures by name, from the recipe's training plan. */
  figures: v.exactOptional(figures),
  /** What each proposal of the round earned, by the id of its first sample; null = no reward. Absent where nobody is paid for proposing. */
  earnings: v.exactOptional(earnings),
  evaluation: v.exactOptional(evaluationReport),
  /** The version that the run began from (0, unless it continues a trained policy), kept in the first round's report. */
  start: v.exactOptional(evaluationReport),
  /** Collapse warnings and refused groups, in words, for the operator. */
  warnings: v.exactOptional(v.array(v.string())),
  /** The number of the round's messages that arrived more than once and changed nothing. */
  duplicates: v.exactOptional(count),
  /** Time from the round's creation until its last group was judged, and the learner's time, ms. */
  rolloutMs: v.exactOptional(finite),
  learnerMs: v.exactOptional(finite),
  /** What the mesh used for the learner in this round: answers of the gateway, operations of the queue. */
  used: v.exactOptional(usageCounts),
  /** What its pulls used that found nothing: the mesh's, and not the round's. */
  idle: v.exactOptional(usageCounts),
});
export type RoundReport = Readonly<v.InferOutput<typeof roundReport>>;
