/**
 * A recipe is data plus pure functions: who plays, what is paid, how it becomes advantages, what is optimised. The same
 * recipe runs in the mesh, in one process and in tests; nothing here knows a runtime.
 */
import type { Claim } from './claims.ts';
import type { Sample, ScoredGroup } from './schema/sample.ts';
import type { Judgment, Reading, Solution, TaskFamily } from './tasks/family.ts';

export interface Paper {
  readonly title: string;
  readonly year: number;
  /** arXiv id or URL; absent for a system of our own. */
  readonly source?: string;
}

/** The clipped policy-gradient objective of one role. Loss = token-mean of clip(ratio) x advantage, plus the KL term. */
export interface PolicyObjective {
  readonly clipLow: number;
  readonly clipHigh: number;
  /** Weight of the k3 estimate of KL to version 0, added to the loss. 0 = off. */
  readonly kl: number;
  /** Weight of this role's loss in the sum. */
  readonly weight: number;
}

export interface OptimizerSettings {
  readonly learningRate: number;
  /** Updates of linear warm-up: a cold AdamW's first steps have full size. */
  readonly warmup: number;
  readonly betas: readonly [number, number];
  readonly weightDecay: number;
  /** Bound on the gradient's Euclidean norm. */
  readonly clipNorm: number;
  /** Optimiser steps a round; every sample is in exactly one of them. */
  readonly minibatches: number;
}

/** What the solver's reward may look at. Reading `gold` from a reward kind that is declared gold-free throws. */
export interface SolverEvidence {
  readonly solution: Reading<Solution>;
  readonly judgments: readonly Reading<Judgment>[];
  /** Exact check of the answer; null where there is no answer. */
  readonly gold: () => boolean | null;
  /** A fair coin, the same for the same sample in every run of it: the random-reward control arm. */
  readonly coin: boolean;
}

export interface RewardKind {
  readonly usesGold: boolean;
  /** Says in a sentence what is paid. */
  readonly says: string;
  /** Judgments sampled for each solution. */
  readonly votes: number;
  readonly kl: number;
  /** Reward of one rollout; null = missing. */
  readonly solver: (evidence: SolverEvidence) => number | null;
  /** Does the rollout count as a success in the pass rate that prices the proposal? null = does not count. */
  readonly passed: (evidence: SolverEvidence) => number | null;
}

/** A sample with its advantage, ready for the learner: every token of `ids` gets the same value. */
export interface TrainingSample {
  readonly sample: Sample;
  readonly advantage: number;
}

export interface Recipe {
  readonly name: string;
  readonly title: string;
  readonly paper: Paper;
  /** One paragraph: who plays, who is paid for what. */
  readonly summary: string;
  readonly differences: readonly string[];
  readonly claim: Claim;
  readonly family: TaskFamily;
  /** Roles in the order they act; all share one set of weights unless frozen. */
  readonly roles: readonly ('proposer' | 'solver' | 'judge')[];
  readonly temperature: number;
  readonly tasks: number;
  readonly group: number;
  /** The kinds that `--reward` takes; the first is the default. */
  readonly rewards: Readonly<Record<string, RewardKind>>;
  readonly proposerReward: (outcome: string, passRate: number | null) => number | null;
  readonly judgeReward: (judgment: Reading<Judgment>, truth: boolean) => number;
  /** Rewards to advantages, one function a role; a sample that is left out is not trained on. `seed` keys any random choice. */
  readonly advantages: {
    readonly proposer: (samples: readonly Sample[]) => TrainingSample[];
    readonly solver: (groups: readonly ScoredGroup[]) => TrainingSample[];
    readonly judge: (groups: readonly ScoredGroup[], seed: string) => TrainingSample[];
  };
  readonly objective: Readonly<Record<'proposer' | 'solver' | 'judge', Omit<PolicyObjective, 'kl'>>>;
  readonly optimizer: OptimizerSettings;
}
