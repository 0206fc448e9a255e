/** What a recipe of proposer, solver and judge says about them: what each is paid, and how rewards become advantages. */
import { wrongInput } from '../errors.ts';
import type { RewardInfo } from '../role.ts';
import type { Outcome } from '../schema/outcome.ts';
import type { Sample, ScoredGroup } from '../schema/sample.ts';
import type { Judgment, Reading, Solution, TaskFamily } from '../tasks/family.ts';
import type { PolicyItem } from '../training.ts';

export type RoleName = 'proposer' | 'solver' | 'judge';

/** What the solver's reward may look at. Reading `gold` from a reward kind that is declared gold-free throws. */
export interface SolverEvidence {
  readonly solution: Reading<Solution>;
  readonly judgments: readonly Reading<Judgment>[];
  /** Exact check of the answer; null where there is no answer. */
  readonly gold: () => boolean | null;
  /** A fair coin, the same for the same sample in every run of it: the random-reward control arm. */
  readonly coin: boolean;
}

export interface RewardKind extends RewardInfo {
  /** Judgments sampled for each solution. */
  readonly votes: number;
  /** Weight of the k3 estimate of KL to version 0, added to the loss. 0 = off. */
  readonly kl: number;
  /** Reward of one rollout; null = missing. */
  readonly solver: (evidence: SolverEvidence) => number | null;
  /** Does the rollout count as a success in the pass rate that prices the proposal? null = does not count. */
  readonly passed: (evidence: SolverEvidence) => number | null;
}

export interface ClippedObjective {
  readonly clipLow: number;
  readonly clipHigh: number;
  /** Weight of this role's loss in the sum. */
  readonly weight: number;
}

export interface ThreeRoles {
  readonly family: TaskFamily;
  readonly temperature: number;
  /** The kinds that `--reward` takes; the first is the default. */
  readonly rewards: Readonly<Record<string, RewardKind>>;
  readonly proposerReward: (outcome: Outcome, passRate: number | null) => number | null;
  readonly judgeReward: (judgment: Reading<Judgment>, truth: boolean) => number;
  /** Rewards to advantages, one function a role; a sample that is left out is not trained on. `seed` keys any random choice. */
  readonly advantages: {
    readonly proposer: (samples: readonly Sample[]) => PolicyItem[];
    readonly solver: (groups: readonly ScoredGroup[]) => PolicyItem[];
    readonly judge: (groups: readonly ScoredGroup[], seed: string) => PolicyItem[];
  };
  readonly objective: Readonly<Record<RoleName, ClippedObjective>>;
}

export function rewardKind({ rewards }: Pick<ThreeRoles, 'rewards'>, reward: string): RewardKind {
  const kind = rewards[reward];
  if (kind) return kind;
  throw wrongInput('recipe.reward', `There is no reward ${JSON.stringify(reward)}.`, {
    expected: `one of ${Object.keys(rewards).join(', ')}`,
  });
}
