/** The rewards of the three roles: one of seven for the solver, always the same for the proposer, and for the judge agreement with its label. */
import type { RewardInfo } from '../../core/recipe/role.ts';
import type { Judgment, ParseResult, Solution } from '../../core/recipe/task-family.ts';
import { learnability } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Outcome } from '../../core/schema/outcome.ts';

/** The share of the judge's step verdicts in the reward `mix`. */
const STEP_WEIGHT = 0.2;

/** What the solver's reward may depend on. Reading `gold` for a reward that is declared gold-free throws. */
export interface SolverEvidence {
  readonly solution: ParseResult<Solution>;
  readonly judgments: readonly ParseResult<Judgment>[];
  /** Whether the answer is exact; null where there is no answer. */
  readonly answerExact: () => boolean | null;
  /** Whether it gives the majority answer of its task, where labels are votes; otherwise, or without an answer, null. */
  readonly agrees: boolean | null;
  /** A fair coin, for the random-reward control; it falls the same way for the same sample in every repetition of a run. */
  readonly coin: boolean;
}

export interface SolverReward extends RewardInfo {
  /** The number of judgments that are sampled for each solution. */
  readonly votes: number;
  /** Weight of the k3 estimate of KL to version 0, added to the loss. 0 = off. */
  readonly kl: number;
  /** The reward of one rollout; null is missing data. */
  readonly solver: (evidence: SolverEvidence) => number | null;
  /** Whether the rollout counts as a success in the pass rate that decides the proposal's reward; null if it does not count. */
  readonly passed: (evidence: SolverEvidence) => number | null;
}

const exact = ({ answerExact }: SolverEvidence) => Number(answerExact() === true);
const inMajority = ({ agrees }: SolverEvidence) => Number(agrees === true);
const coin = (evidence: SolverEvidence) => Number(evidence.coin);
const wellFormed = ({ solution }: SolverEvidence) => Number(solution.ok);

/** The share of valid verdicts that say "right"; missing, and not 0, where no verdict is valid. */
function approval({ solution, judgments }: SolverEvidence): number | null {
  if (!solution.ok) return 0;
  const verdicts = judgments.flatMap((judgment) => (judgment.ok ? [Number(judgment.value.right)] : []));
  return verdicts.length ? mean(verdicts) : null;
}

/** Exactness mixed with the share of steps that the judge calls right; a terse solution has no steps to be paid for. */
function mixed(evidence: SolverEvidence): number {
  const { solution, judgments } = evidence;
  if (!solution.ok) return 0;
  const shares = judgments.flatMap((judgment) =>
    judgment.ok ? [judgment.value.steps.length ? mean(judgment.value.steps.map(Number)) : 0] : [],
  );
  if (!shares.length) return exact(evidence);
  return (1 - STEP_WEIGHT) * exact(evidence) + STEP_WEIGHT * mean(shares);
}

/** What `--reward` takes; the first is the default. */
export const rewards: Readonly<Record<string, SolverReward>> = {
  mix: {
    usesGold: true,
    votes: 1,
    kl: 0.1,
    description: 'exact answers, mixed with the judge’s step verdicts',
    solver: mixed,
    passed: exact,
  },
  gold: {
    usesGold: true,
    votes: 1,
    kl: 0.1,
    description: 'exact answers alone',
    solver: exact,
    passed: exact,
  },
  // Without gold, a single verdict is too noisy, and a stronger KL penalty keeps the policy where its judge is calibrated.
  judge: {
    usesGold: false,
    votes: 4,
    kl: 0.3,
    description:
      'the judge’s verdict alone: only the judge sees the checker’s verdict, and the judge pays the solver',
    solver: approval,
    passed: approval,
  },
  'self-consistency': {
    usesGold: false,
    labelFree: true,
    votes: 4,
    kl: 0.3,
    description:
      'the judge’s verdict alone, and the judge is trained on the majority answer of each task: nobody sees gold',
    solver: approval,
    passed: approval,
  },
  majority: {
    usesGold: false,
    labelFree: true,
    votes: 1,
    kl: 0.3,
    description: 'the answer that most solutions of the task give: nobody sees gold',
    solver: inMajority,
    passed: inMajority,
  },
  format: {
    usesGold: false,
    votes: 1,
    kl: 0.1,
    description: 'control: any well-formed answer',
    solver: wellFormed,
    passed: wellFormed,
  },
  random: {
    usesGold: false,
    votes: 1,
    kl: 0.3,
    description: 'control: a fair coin',
    solver: coin,
    passed: coin,
  },
};

/** The reward of a proposal, by its outcome and the pass rate of the group that it became; null is missing data. `unusable`: what one earns that is no task. */
export function proposerReward(
  outcome: Outcome,
  passRate: number | null,
  unusable = -0.5,
  worth: (passRate: number) => number = learnability,
): number | null {
  if (outcome === 'held-out') return null;
  if (outcome !== 'ok') return unusable;
  return passRate === null ? null : worth(passRate);
}

/** `label`: whether the solution counts as right, by the exact checker or by the majority of its task’s answers. */
export const judgeReward = (judgment: ParseResult<Judgment>, label: boolean): number =>
  Number(judgment.ok && judgment.value.right === label);
