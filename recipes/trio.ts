/** trio, the flagship: one set of weights proposes tasks, solves them and judges the solutions. The method is told below, as data. */
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
  method: {
    setting:
      'Tasks are chains of small sums and differences. One set of weights plays all three roles; the start policy has seen demonstrations of each and mostly answers without steps, though it would be right more often with them. Nobody supplies tasks.',
    roles:
      'The proposer writes tasks until the round has as many as it wants; a task must keep to the grammar, must not be held out and must not repeat one of the round. The solver answers each task several times. The judge gives a verdict on every step of a solution and on the whole, once a solution, or four times where its verdict alone pays the solver.',
    rewards:
      'The proposer earns 4p(1 - p), where p is the share of the task’s rollouts that pass: most for tasks that half of them solve. An invalid or repeated task earns -0.5, a held-out one nothing at all. The solver’s default reward is 0.8 for an exact answer plus 0.2 times the share of its steps that the judge calls right. The judge earns 1 where its verdict on the whole is that of the exact checker.',
    credit:
      'Advantages are computed role by role, since the three rewards have different scales. The proposer’s rewards are whitened over the round. The solver’s are centred on the mean of their task and scaled by the deviation of the round. The judge is trained on at most 256 judgments, half of them of right solutions, weighted so that both kinds count the same.',
    objective:
      'The loss is the sum of the three roles’ clipped policy gradients (ratios in [0.8, 1.28], a mean over each role’s tokens), plus a k3 estimate of the KL divergence to version 0 with weight 0.1, or 0.3 where the solver is paid by the judge or by a coin.',
    schedule: 'Each round samples with the newest version and makes one update of the shared weights.',
  },
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
