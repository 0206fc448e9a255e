/**
 * Collapse monitors of a round, from its records alone. Oracles are read here and nowhere near a reward. A share whose
 * denominator is empty is null: "none to measure" is not zero.
 */
import type { Recipe } from '../recipe.ts';
import type { Proposals, Sample, ScoredGroup } from '../schema/sample.ts';
import { episodesOf, proposalOutcomes } from './episodes.ts';

export interface JudgeConfusion {
  /** Judgments by verdict and truth; void = no valid verdict. */
  readonly rightAsRight: number;
  readonly rightAsWrong: number;
  readonly wrongAsRight: number;
  readonly wrongAsWrong: number;
  readonly void: number;
}

export interface RoundMonitors {
  /** Groups and rollouts the figures are of; a rollout may have several turns, each of which carries the whole's reward. */
  readonly groups: number;
  readonly rollouts: number;
  /** Mean reward of the rated rollouts, and the share of all rollouts whose answer is exact. */
  readonly reward: number | null;
  readonly gold: number | null;
  /** reward - gold: grows when the reward is being hacked. */
  readonly gap: number | null;
  /** Share of rollouts of which every turn is in form. */
  readonly formatRate: number | null;
  readonly workedShare: number | null;
  /** What the solver writes in a rollout, in the mean, tokens. */
  readonly length: number | null;
  /** Share of groups whose rollouts all got the same reward: they teach nothing. */
  readonly zeroVariance: number | null;
  readonly missingRewards: number;
  readonly proposals: number;
  readonly invalidRate: number | null;
  readonly duplicateRate: number | null;
  readonly difficulty: number | null;
  readonly passRate: number | null;
  readonly judge: JudgeConfusion;
  /** Mean of the hit rates on right and on wrong solutions; a void verdict is a miss. */
  readonly judgeBalancedAccuracy: number | null;
  readonly tokens: number;
}

export const mean = (values: readonly number[]): number | null =>
  values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;

const share = <T>(items: readonly T[], test: (item: T) => boolean) =>
  mean(items.map((item) => (test(item) ? 1 : 0)));

/** Balanced accuracy of a confusion: voids count as misses of the class they belong to. */
export function balancedAccuracy(
  hits: readonly { readonly truth: boolean; readonly hit: boolean }[],
): number | null {
  const rates = [true, false].map((truth) =>
    share(
      hits.filter((item) => item.truth === truth),
      (item) => item.hit,
    ),
  );
  const known = rates.filter((rate) => rate !== null);
  return known.length === 2 ? mean(known) : null;
}

/** Judgments of what the oracle has a word on, whatever the run's reward makes of them. */
const judged = (groups: readonly ScoredGroup[]): { sample: Sample; truth: boolean; hit: boolean }[] =>
  groups.flatMap(({ judgments }) =>
    judgments.flatMap((sample) => (sample.oracle ? [{ sample, ...sample.oracle }] : [])),
  );

interface Rollout {
  readonly turns: readonly Sample[];
  /** Written on each of its turns. */
  readonly rewards: Sample['rewards'];
  readonly gold: boolean | null;
}

function rolloutsOf({ samples, gold }: ScoredGroup): Rollout[] {
  const golds = new Map(samples.map(({ id }, i) => [id, gold[i] ?? null]));
  return episodesOf(samples).map((turns) => {
    const { id, rewards } = turns[0]!;
    return { turns, rewards, gold: golds.get(id) ?? null };
  });
}

/** Share of rollouts whose answer is exact; null where there are answers and the oracle has a word on none, as of a rubric. */
function exactShare(rollouts: readonly Rollout[]): number | null {
  const answered = rollouts.some(({ turns }) => turns.some(({ outcome }) => outcome === 'ok'));
  const silent = rollouts.every(({ gold }) => gold === null);
  return answered && silent ? null : share(rollouts, ({ gold }) => gold === true);
}

/** Share of proposals that repeat a task of the round: turned away, or admitted a second time. */
function repeated(outcomes: readonly string[], { tasks }: Proposals): number | null {
  const fresh = tasks.flatMap(({ task, proposal }) => (proposal === null ? [] : [task]));
  const again = fresh.length - new Set(fresh).size;
  const turnedAway = outcomes.filter((outcome) => outcome === 'duplicate').length;
  return outcomes.length ? (turnedAway + again) / outcomes.length : null;
}

export function monitorRound(
  { describe }: Pick<Recipe, 'describe'>,
  decode: (ids: readonly number[]) => string,
  proposals: Proposals,
  groups: readonly ScoredGroup[],
): RoundMonitors {
  const byGroup = groups.map(rolloutsOf);
  const rollouts = byGroup.flat();
  const rewardsG = byGroup.map((group) =>
    group.map(({ rewards }) => rewards.reward ?? null).filter((reward) => reward !== null),
  );
  const reward = mean(rewardsG.flat());
  const gold = exactShare(rollouts);
  const proposed = proposalOutcomes(proposals);
  const judgments = judged(groups);
  const valid = judgments.filter(({ sample }) => sample.outcome === 'ok');
  const count = (truth: boolean, hit: boolean) =>
    valid.filter((j) => j.truth === truth && j.hit === hit).length;
  const everyone = [
    ...proposals.samples,
    ...groups.flatMap(({ samples, judgments }) => [...samples, ...judgments]),
  ];
  return {
    groups: groups.length,
    rollouts: rollouts.length,
    reward,
    gold,
    gap: reward === null || gold === null ? null : reward - gold,
    formatRate: share(rollouts, ({ turns }) => turns.every(({ outcome }) => outcome === 'ok')),
    workedShare: share(
      rollouts,
      ({ turns: [first] }) => first!.outcome === 'ok' && describe?.worked?.(decode(first!.ids)) === true,
    ),
    length: mean(rollouts.map(({ turns }) => turns.reduce((sum, { ids }) => sum + ids.length, 0))),
    zeroVariance: share(
      // One reward alone cannot differ from another.
      rewardsG.filter((rewards) => rewards.length > 1),
      (rewards) => rewards.every((value) => value === rewards[0]),
    ),
    missingRewards: rollouts.filter(({ rewards }) => rewards.reward === null).length,
    proposals: proposed.length,
    invalidRate: share(proposed, (outcome) => !['ok', 'duplicate', 'held-out'].includes(outcome)),
    duplicateRate: repeated(proposed, proposals),
    difficulty: describe?.difficulty ? mean(groups.map(({ task }) => describe.difficulty!(task))) : null,
    passRate: mean(rollouts.map(({ rewards }) => rewards.passed ?? null).filter((value) => value !== null)),
    judge: {
      rightAsRight: count(true, true),
      rightAsWrong: count(true, false),
      wrongAsRight: count(false, false),
      wrongAsWrong: count(false, true),
      void: judgments.length - valid.length,
    },
    judgeBalancedAccuracy: balancedAccuracy(judgments),
    tokens: everyone.reduce((sum, sample) => sum + sample.ids.length, 0),
  };
}
