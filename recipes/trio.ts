/**
 * trio, the flagship: one set of weights proposes tasks, solves them and judges the solutions, and is paid for each job.
 *
 *   proposer  4p(1-p), p = the solver's pass rate: most at the frontier of what it can do; -0.5 for an invalid or repeated task
 *   solver    by --reward, see below
 *   judge     1 where its verdict is the exact checker's, balanced over right and wrong solutions
 *
 * Advantages are normalised role by role, because the three rewards have different scales. Not from one paper: the
 * parts are RL Tango's co-trained generative verifier, the learnability reward of asymmetric self-play, and
 * Multi-Agent Evolve's shared weights.
 */
import { Random } from '../core/random.ts';
import type { Recipe } from '../core/recipe.ts';
import { balancedPick } from '../core/rl/balanced-pick.ts';
import { classBalanced } from '../core/rl/class-balanced.ts';
import { groupCentredBatchScaled } from '../core/rl/group-centred.ts';
import { learnability } from '../core/rl/proposer-rewards.ts';
import { mean } from '../core/rl/statistics.ts';
import { whitenBatch } from '../core/rl/task-relative.ts';
import { smallSteps } from '../core/roles/solver-recipe.ts';
import type { RewardKind, SolverEvidence, ThreeRoles } from '../core/roles/three-role-game.ts';
import { threeRoles } from '../core/roles/three-roles.ts';
import type { Sample } from '../core/schema/sample.ts';
import { arithmetic } from '../core/tasks/arithmetic.ts';
import type { PolicyItem } from '../core/training.ts';
import { trioClaim } from './claims/trio.ts';

/** Share of the `mix` reward that comes from the judge's step verdicts. */
const STEP_WEIGHT = 0.2;
/** Judgments a round that the judge is trained on, half of them of right solutions. */
const JUDGMENTS_TRAINED = 256;
const CLIP = { clipLow: 0.2, clipHigh: 0.28, weight: 1 };

const exact = ({ gold }: SolverEvidence) => Number(gold() === true);
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

const rewardOf = (sample: Sample) => sample.rewards.reward ?? null;

/** A sample without a reward has no advantage and is not trained on. */
const weigh = (samples: readonly Sample[], advantages: readonly (number | null)[]): PolicyItem[] =>
  samples.flatMap((sample, i) => {
    const advantage = advantages[i] ?? null;
    return advantage === null ? [] : [{ sample, advantage }];
  });

const rewards: Record<string, RewardKind> = {
  mix: {
    usesGold: true,
    votes: 1,
    kl: 0.1,
    says: 'exact answers, mixed with the judge’s step verdicts',
    solver: mixed,
    passed: exact,
  },
  gold: { usesGold: true, votes: 1, kl: 0.1, says: 'exact answers alone', solver: exact, passed: exact },
  // Without gold a single verdict is too noisy, and KL is what holds the policy near where its judge is calibrated.
  judge: {
    usesGold: false,
    votes: 4,
    kl: 0.3,
    says: 'the judge’s verdict alone: the solver never sees gold',
    solver: approval,
    passed: approval,
  },
  format: {
    usesGold: false,
    votes: 1,
    kl: 0.1,
    says: 'control: any well-formed answer',
    solver: wellFormed,
    passed: wellFormed,
  },
  random: { usesGold: false, votes: 1, kl: 0.3, says: 'control: a fair coin', solver: coin, passed: coin },
};

/** What the three are paid, and how that becomes advantages. */
export const trioGame: ThreeRoles = {
  family: arithmetic,
  temperature: 1,
  rewards,
  proposerReward: (outcome, passRate) => {
    if (outcome === 'held-out') return null;
    if (outcome !== 'ok') return -0.5;
    return passRate === null ? null : learnability(passRate);
  },
  judgeReward: (judgment, truth) => Number(judgment.ok && judgment.value.right === truth),
  advantages: {
    proposer: (samples) => weigh(samples, whitenBatch(samples.map(rewardOf))),
    solver: (groups) => {
      const samples = groups.flatMap((group) => group.samples);
      const groupOf = groups.flatMap((group) => group.samples.map(() => group.group));
      return weigh(samples, groupCentredBatchScaled(samples.map(rewardOf), groupOf));
    },
    judge: (groups, seed) => {
      const judged = groups.flatMap((group) => {
        const truthOf = new Map(group.samples.map((sample, i) => [sample.id, group.truth[i]]));
        return group.judgments.map((sample) => ({ sample, truth: truthOf.get(sample.of ?? '') === true }));
      });
      const truths = judged.map((item) => item.truth);
      const picked = balancedPick(truths, JUDGMENTS_TRAINED, new Random(seed)).map((i) => judged[i]!);
      const samples = picked.map((item) => item.sample);
      const agreement = samples.map((sample) => sample.rewards.agreement ?? null);
      const shown = picked.map((item) => item.truth);
      return weigh(samples, classBalanced(agreement, shown));
    },
  },
  objective: { proposer: CLIP, solver: CLIP, judge: CLIP },
};

export const trio: Recipe = {
  name: 'trio',
  title: 'Proposer, solver and judge co-trained on shared weights',
  paper: { title: 'rollmesh’s flagship; after RL Tango and Multi-Agent Evolve', year: 2026 },
  summary:
    'One policy writes arithmetic tasks, solves them with or without steps, and judges the solutions step by step. The proposer is paid for tasks that half of the rollouts solve, the judge for agreeing with the exact checker, the solver by the chosen reward.',
  differences: [
    'Tango keeps generator and verifier in two sets of weights; here all roles share one.',
    'Multi-Agent Evolve’s judge is paid for format only; here for agreement with an exact checker.',
  ],
  claim: trioClaim,
  start: 'seed',
  tasks: 64,
  group: 8,
  variants: {},
  sets: { main: { optimizer: smallSteps() } },
  ...threeRoles(trioGame),
};
