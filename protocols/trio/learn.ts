/**
 * Makes the training plan of the three roles from a round's records. It is a pure function: wherever the learner runs, it gets the same batch.
 */
import type { PolicyItem, PolicyPart, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { classBalanced, whitenBatch } from '../../core/rl/estimators/index.ts';
import { balancedPick } from '../../core/rl/selection/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { Proposals, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { creditedItems, rewardOf as earned, type GroupEstimator, groupItems, policyPart } from '../solver.ts';
import { proposerReward, type SolverReward } from './rewards.ts';

/** The number of judgments in a round that the judge is trained on, half of them on right solutions. */
const JUDGMENTS_TRAINED = 256;

/** The share of a group's rollouts that count as passed; null where no rollout has a reward. */
function passRate({ samples }: ScoredGroup): number | null {
  const passed = samples.map((sample) => sample.rewards.passed ?? null).filter((value) => value !== null);
  return passed.length ? mean(passed) : null;
}

/** How proposals are paid beside their pass rates. */
export interface ProposalPay {
  /** What one earns that is no task; default a penalty. */
  readonly unusable?: number;
  /** What a task is worth by its pass rate; default 4p(1 - p). */
  readonly worth?: (passRate: number) => number;
  /** What tasks have in common that count as the same again: a task earns less by the share of the round's other tasks that are like it. */
  readonly kindOf?: (task: string) => string;
}

/** Share of the other groups whose tasks are of the same kind. */
function shareAlike(groups: readonly ScoredGroup[], kindOf: (task: string) => string) {
  const counts = new Map<string, number>();
  for (const { task } of groups) counts.set(kindOf(task), (counts.get(kindOf(task)) ?? 0) + 1);
  return ({ task }: ScoredGroup) => (counts.get(kindOf(task))! - 1) / Math.max(1, groups.length - 1);
}

/** The rewards of proposals, by the pass rates of the groups that they became. A proposal whose group is missing has no reward. */
export function payProposals(
  { samples }: Pick<Proposals, 'samples'>,
  groups: readonly ScoredGroup[],
  { unusable, worth, kindOf }: ProposalPay = {},
): ReadonlyMap<string, number | null> {
  const groupOf = new Map(groups.map((group) => [group.proposal, group]));
  const alike = kindOf ? shareAlike(groups, kindOf) : () => 0;
  return new Map(
    samples.map(({ id, outcome }) => {
      const group = groupOf.get(id);
      if (outcome === 'ok' && !group) return [id, null];
      const paid = proposerReward(outcome, group ? passRate(group) : null, unusable, worth);
      return [id, paid === null || !group ? paid : paid - alike(group)];
    }),
  );
}

/** The proposer's rewards, whitened over the round. */
const proposerItems = (samples: readonly Sample[]): PolicyItem[] =>
  creditedItems(
    samples,
    samples.map(earned),
    samples.map(() => 'proposer'),
    (rewards) => whitenBatch(rewards),
  );

/** The judge's agreement with its labels, balanced over right and wrong solutions. `seed` keys the random choice of judgments. */
function judgeItems(groups: readonly ScoredGroup[], seed: string): PolicyItem[] {
  const judged = groups.flatMap((group) => {
    const exactOf = new Map(group.samples.map((sample, i) => [sample.id, group.solutionsExact[i]]));
    // Where the judge was paid by a label other than the exact checker’s, the label is recorded beside its reward.
    return group.judgments.map((sample) => ({
      sample,
      label:
        sample.rewards.label === undefined
          ? exactOf.get(sample.of ?? '') === true
          : sample.rewards.label === 1,
    }));
  });
  const labels = judged.map((item) => item.label);
  const picked = balancedPick(labels, JUDGMENTS_TRAINED, new Random(seed)).map((i) => judged[i]!);
  const samples = picked.map((item) => item.sample);
  const agreement = samples.map((sample) => sample.rewards.agreement ?? null);
  const shown = picked.map((item) => item.label);
  return creditedItems(samples, agreement, shown, classBalanced);
}

/** How the three roles are trained together. */
export interface Together {
  /** Compares the solver's rewards with those of their task. */
  readonly solver: GroupEstimator;
  /** Whether the solver is fine-tuned on its right answers in place of it; default never. */
  readonly fineTuned?: (settings: RunSettings) => boolean;
  /** Weights of the roles' losses, each a mean over the role's own tokens; default 1, and 0 leaves a role as it is. */
  readonly weights: (reward: SolverReward) => Readonly<Record<string, number>>;
}

/** Rejection fine-tuning: the negative log-likelihood of the answers that earned a reward, a mean over their tokens. */
const imitation = (groups: readonly ScoredGroup[]): PolicyPart =>
  policyPart(
    'solver',
    groups.flatMap(({ samples }) =>
      samples.flatMap((sample) => ((earned(sample) ?? 0) > 0 ? [{ sample, advantage: 1 }] : [])),
    ),
    { objective: { kind: 'reinforce' }, aggregation: { mode: 'token-mean' } },
  );

/** One update of the shared weights: the clipped objectives of the three roles, each over its own tokens, and the KL divergence to version 0. */
export function learn(
  reward: SolverReward,
  { solver, fineTuned = () => false, weights }: Together,
  { round, proposals, groups }: RoundRecords,
): TrainingPlan {
  const { kl } = reward;
  const weightOf = weights(reward);
  const part = (role: string, items: readonly PolicyItem[]): PolicyPart => ({
    ...policyPart(role, items, {
      objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 },
      aggregation: { mode: 'token-mean' },
      ...(kl > 0 ? { kl: { weight: kl, estimator: 'k3', reference: { set: MAIN_SET, version: 0 } } } : {}),
    }),
    weight: weightOf[role] ?? 1,
  });
  const parts = [
    part('proposer', proposerItems(proposals.samples)),
    fineTuned(round.settings) ? imitation(groups) : part('solver', groupItems(groups, solver)),
    part('judge', judgeItems(groups, `${round.id}/judge`)),
  ];
  return {
    updates: [{ set: MAIN_SET, parts: parts.filter(({ weight, items }) => weight > 0 && items.length > 0) }],
  };
}
