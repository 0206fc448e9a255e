/** What the three roles are paid: the solver by one of six rewards, the proposer always in the same way; and by whose word the judge is trained. */
import { wrongInput } from '../../core/errors.ts';
import { learnability } from '../../core/rl/rewards/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RewardInfo } from '../../core/role.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { Judgment, ParseResult, Solution } from '../../core/task-family.ts';

/** Share of the `mix` reward that comes from the judge's step verdicts. */
const STEP_WEIGHT = 0.2;

/** What the solver's reward may look at. Reading `gold` from a reward that is declared gold-free throws. */
export interface SolverEvidence {
  readonly solution: ParseResult<Solution>;
  readonly judgments: readonly ParseResult<Judgment>[];
  /** Exact check of the answer; null where there is no answer. */
  readonly answerExact: () => boolean | null;
  /** A fair coin, the same for the same sample in every run of it: the random-reward control arm. */
  readonly coin: boolean;
}

export interface SolverReward extends RewardInfo {
  /** Judgments sampled for each solution. */
  readonly votes: number;
  /** Weight of the k3 estimate of KL to version 0, added to the loss. 0 = off. */
  readonly kl: number;
  /** Reward of one rollout; null = missing. */
  readonly solver: (evidence: SolverEvidence) => number | null;
  /** Does the rollout count as a success in the pass rate that prices the proposal? null = does not count. */
  readonly passed: (evidence: SolverEvidence) => number | null;
}

const exact = ({ answerExact }: SolverEvidence) => Number(answerExact() === true);
const coin = (evidence: SolverEvidence) => Number(evidence.coin);
const wellFormed = ({ solution }: SolverEvidence) => Number(solution.ok);

/** Share of valid verdicts that say "right". No valid verdict: missing, not zero. */
function approval({ solution, judgments }: SolverEvidence): number | null {
  if (!solution.ok) return 0;
  const verdicts = judgments.flatMap((judgment) => (judgment.ok ? [Number(judgment.value.right)] : []));
  return verdicts.length ? mean(verdicts) : null;
}

/** Correctness mixed with the share of steps that the judge calls ok; a terse solution has no steps to earn with. */
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
  // Without gold a single verdict is too noisy, and KL is what holds the policy near where its judge is calibrated.
  judge: {
    usesGold: false,
    votes: 4,
    kl: 0.3,
    description: 'the judge’s verdict alone; the judge is still trained on the exact checker’s word',
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

/** Throws `wrong-input` where there is no such reward. */
export function rewardOf(name: string): SolverReward {
  const reward = rewards[name];
  if (reward) return reward;
  throw wrongInput('recipe.reward', `There is no reward ${JSON.stringify(name)}.`, {
    expected: `one of ${Object.keys(rewards).join(', ')}`,
  });
}

/** Reward of a proposal by its outcome and the pass rate of the group it became; null = missing. */
export function proposerReward(outcome: Outcome, passRate: number | null): number | null {
  if (outcome === 'held-out') return null;
  if (outcome !== 'ok') return -0.5;
  return passRate === null ? null : learnability(passRate);
}

/** `label`: whether the solution counts as right, by the exact checker or by the majority of its task’s answers. */
export const judgeReward = (judgment: ParseResult<Judgment>, label: boolean): number =>
  Number(judgment.ok && judgment.value.right === label);
