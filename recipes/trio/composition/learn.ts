/** What a round's proposals earn, and its training plan: one update of the shared weights by three roles, each over its own tokens. */

import type {
  PolicyItem,
  PolicyPart,
  ProposalTools,
  RoundRecords,
  TrainingPlan,
} from '../../../core/plan/training-plan.ts';
import { Random } from '../../../core/random.ts';
import { classBalanced, grpo, whitenBatch } from '../../../core/rl/estimators/index.ts';
import { uncertainty } from '../../../core/rl/rewards/index.ts';
import { balancedPick } from '../../../core/rl/selection/index.ts';
import { mean } from '../../../core/rl/statistics.ts';
import { MAIN_SET } from '../../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../../core/schema/sample.ts';
import { groupItems, withAdvantages } from '../../../protocols/solver.ts';
import { DEEPEST_TRAINED, depthOf } from '../../../worlds/composition/family.ts';
import { readTask } from '../../../worlds/composition/text.ts';
import { withoutStop } from '../../../worlds/worked.ts';
import { nextRule, proposes, ruleOf } from './propose.ts';

/** Weights of the losses of the roles that write less than the solver: each is a mean over its own tokens. */
const PARTNER_WEIGHT = 0.5;
/** Judgments of a round that the judge is trained on, half of them of right solutions. */
const JUDGMENTS_TRAINED = 64;

function passRate({ samples }: ScoredGroup): number | null {
  const known = samples.flatMap(({ rewards }) => rewards.passed ?? []);
  return known.length ? mean(known) : null;
}

/** The calls that a proposal makes; undefined where it is no task. */
const callsOf = ({ ids }: Sample, { decode }: Pick<ProposalTools, 'decode'>) =>
  readTask(withoutStop(decode(ids)) ?? '')?.calls.join();

/**
 * 1 − 2|p − ½| for the pass rate p of a proposal's task, less the share of the round's other proposals that make the same calls. 0 for a text that
 * cannot be used: a fine would decide in place of the pass rate while deeper tasks are seldom written right. null for a held-out task, and for one whose group is missing.
 */
export function payProposals(
  { proposals: { samples }, groups }: Pick<RoundRecords, 'proposals' | 'groups'>,
  tools: Pick<ProposalTools, 'decode'>,
): ReadonlyMap<string, number | null> {
  const groupOf = new Map(groups.map((group) => [group.proposal, group]));
  const written = samples.map((sample) => callsOf(sample, tools));
  const repeats = (calls: string | undefined) => written.filter((other) => other === calls).length - 1;
  return new Map(
    samples.map(({ id, outcome }, i) => {
      if (outcome === 'held-out') return [id, null];
      if (outcome !== 'ok') return [id, 0];
      const group = groupOf.get(id);
      const p = group ? passRate(group) : null;
      return [id, p === null ? null : uncertainty(p) - repeats(written[i]) / samples.length];
    }),
  );
}

const earned = ({ rewards }: Sample) => rewards.reward ?? null;
/** Samples without an advantage are left out of the loss and of its mean. */
const telling = (items: readonly PolicyItem[]) => items.filter(({ advantage }) => advantage !== 0);

/** The judge's agreement with the labels of its judgments, balanced over right and wrong solutions. `seed` keys the choice of judgments. */
function judgeItems(groups: readonly ScoredGroup[], seed: string): PolicyItem[] {
  const judged = groups.flatMap(({ samples, judgments, solutionsExact }) => {
    const exactOf = new Map(samples.map(({ id }, i) => [id, solutionsExact[i] === true]));
    return judgments.map((sample) => ({
      sample,
      label: sample.rewards.label === undefined ? exactOf.get(sample.of ?? '')! : sample.rewards.label === 1,
    }));
  });
  const picked = balancedPick(
    judged.map(({ label }) => label),
    JUDGMENTS_TRAINED,
    new Random(seed),
  ).map((i) => judged[i]!);
  const agreement = picked.map(({ sample }) => sample.rewards.agreement ?? null);
  return withAdvantages(
    picked.map(({ sample }) => sample),
    classBalanced(
      agreement,
      picked.map(({ label }) => label),
    ),
  );
}

/** Shares of the round's tasks by depth, their mean depth, and the share of them that teach the solver anything. */
function figuresOf(groups: readonly ScoredGroup[]): Record<string, number> {
  const depths = groups.map(({ task }) => depthOf(task));
  const share = (test: (depth: number) => boolean) => mean(depths.map((depth) => Number(test(depth))));
  const rates = groups.flatMap((group) => passRate(group) ?? []);
  return {
    depth: mean(depths),
    live: mean(rates.map((rate) => Number(rate > 0 && rate < 1))),
    ...Object.fromEntries(
      Array.from({ length: DEEPEST_TRAINED }, (_, i) => [
        `written.${i + 1}`,
        share((depth) => depth === i + 1),
      ]),
    ),
  };
}

export function learn({ round, proposals, groups, recipeState }: RoundRecords): TrainingPlan {
  const part = (role: string, items: readonly PolicyItem[], weight: number): PolicyPart => ({
    kind: 'policy',
    role,
    weight,
    items: telling(items),
    objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 },
    aggregation: { mode: 'token-mean' },
  });
  const { samples } = proposals;
  const parts = [
    part('proposer', withAdvantages(samples, whitenBatch(samples.map(earned))), PARTNER_WEIGHT),
    part('solver', groupItems(groups, grpo), 1),
    part('judge', judgeItems(groups, `${round.id}/judge`), PARTNER_WEIGHT),
  ].filter(({ items }) => items.length);
  return {
    updates: parts.length ? [{ set: MAIN_SET, parts }] : [],
    figures: figuresOf(groups),
    ...(proposes(round.settings) ? {} : { recipeState: nextRule(ruleOf(recipeState), groups) }),
  };
}
