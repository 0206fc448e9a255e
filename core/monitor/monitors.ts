/**
 * Collapse monitors of a round, computed from its records alone. The oracle's verdicts are read here and nowhere near a reward. A share
 * whose denominator is empty is null: "none to measure" is not zero.
 */
import { episodesOf, proposalOutcomes } from '../episodes/play-episodes.ts';
import type { RoundDescription } from '../recipe/role.ts';
import { deviation } from '../rl/statistics.ts';
import type { Outcome } from '../schema/outcome.ts';
import type { RoundMonitors } from '../schema/report.ts';
import type { Proposals, Sample, ScoredGroup } from '../schema/sample.ts';

export const mean = (values: readonly number[]): number | null =>
  values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;

const share = <T>(items: readonly T[], test: (item: T) => boolean) =>
  mean(items.map((item) => (test(item) ? 1 : 0)));

/** Balanced accuracy of a confusion matrix: void verdicts count as misses of the class they belong to. */
export function balancedAccuracy(
  hits: readonly { readonly right: boolean; readonly hit: boolean }[],
): number | null {
  const rates = [true, false].map((right) =>
    share(
      hits.filter((item) => item.right === right),
      (item) => item.hit,
    ),
  );
  const known = rates.filter((rate) => rate !== null);
  return known.length === 2 ? mean(known) : null;
}

/** The judgments for which the oracle has a verdict, whatever the run's reward makes of them. */
const judged = (groups: readonly ScoredGroup[]): { sample: Sample; right: boolean; hit: boolean }[] =>
  groups.flatMap(({ judgments }) =>
    judgments.flatMap((sample) => (sample.oracle ? [{ sample, ...sample.oracle }] : [])),
  );

interface Rollout {
  readonly turns: readonly Sample[];
  /** The rewards of the rollout, which are written on each of its turns. */
  readonly rewards: Sample['rewards'];
  /** Is its answer exact? null where there is none. */
  readonly exact: boolean | null;
}

function rolloutsOf({ samples, answersExact }: ScoredGroup): Rollout[] {
  const exactOf = new Map(samples.map(({ id }, i) => [id, answersExact[i] ?? null]));
  return episodesOf(samples).map((turns) => {
    const { id, rewards } = turns[0]!;
    return { turns, rewards, exact: exactOf.get(id) ?? null };
  });
}

/** A group's rollouts as their rewards are compared: together, or each seat apart where several speak in one episode. */
function comparable(rollouts: readonly Rollout[]): Rollout[][] {
  const seats = new Map<string, Rollout[]>();
  for (const rollout of rollouts) {
    const { episode, role } = rollout.turns[0]!;
    const seat = episode === undefined ? '' : role;
    seats.set(seat, [...(seats.get(seat) ?? []), rollout]);
  }
  return [...seats.values()];
}

/** Are there answers, and the oracle has a verdict on none, as with a rubric and with questions that a policy wrote? */
const isUnchecked = (rollouts: readonly Rollout[]): boolean =>
  rollouts.some(({ turns }) => turns.some(({ outcome }) => outcome === 'ok')) &&
  rollouts.every(({ exact }) => exact === null);

/**
 * The rollouts that answer tasks, by group: those of a role that writes something else, such as reviews, are left out, of which the oracle has a verdict on
 * none though some are well-formed, beside a role that it checks.
 */
function answering(byGroup: readonly (readonly Rollout[])[]): readonly (readonly Rollout[])[] {
  const roleOf = ({ turns }: Rollout) => turns[0]!.role;
  const all = byGroup.flat();
  const checked = new Set(all.filter(({ exact }) => exact !== null).map(roleOf));
  const formed = new Set(
    all.filter(({ turns }) => turns.some(({ outcome }) => outcome === 'ok')).map(roleOf),
  );
  if (checked.size === 0) return byGroup;
  return byGroup.map((rollouts) =>
    rollouts.filter((rollout) => checked.has(roleOf(rollout)) || !formed.has(roleOf(rollout))),
  );
}

/** Share of rollouts whose answer is exact, among the groups [groups][rollouts] that the oracle checks; null where it checks none. */
const exactShare = (byGroup: readonly (readonly Rollout[])[]): number | null =>
  isUnchecked(byGroup.flat())
    ? null
    : share(byGroup.filter((rollouts) => !isUnchecked(rollouts)).flat(), ({ exact }) => exact === true);

/**
 * The gap between the mean reward and accuracy, with its standard error over the groups that have both: groups are independent, rollouts of a task are
 * not. With R groups and dᵣ the mean of reward − exact in one, SE = s(d)/√R.
 */
function gapOf(
  byGroup: readonly (readonly Rollout[])[],
  reward: number | null,
  gold: number | null,
): Pick<RoundMonitors, 'gap' | 'gapError'> {
  if (reward === null || gold === null) return { gap: null };
  const gaps = byGroup.flatMap((rollouts) => {
    const rated = rollouts.filter(({ rewards }) => typeof rewards.reward === 'number');
    return isUnchecked(rollouts) || !rated.length
      ? []
      : [mean(rated.map(({ rewards, exact }) => rewards.reward! - Number(exact === true)))!];
  });
  const gap = reward - gold;
  return gaps.length > 1 ? { gap, gapError: deviation(gaps, 1) / Math.sqrt(gaps.length) } : { gap };
}

/** Share of proposals that repeat a task of the round, whether rejected or admitted a second time. */
function repeated(outcomes: readonly Outcome[], { tasks }: Proposals): number | null {
  const fresh = tasks.flatMap(({ task, proposal }) => (proposal === null ? [] : [task]));
  const again = fresh.length - new Set(fresh).size;
  const turnedAway = outcomes.filter((outcome) => outcome === 'duplicate').length;
  return outcomes.length ? (turnedAway + again) / outcomes.length : null;
}

export function monitorRound(
  { describe, ownScale }: { readonly describe?: RoundDescription; readonly ownScale?: boolean },
  decode: (ids: readonly number[]) => string,
  proposals: Proposals,
  groups: readonly ScoredGroup[],
): RoundMonitors {
  const worked = describe?.worked;
  const byGroup = groups.map(rolloutsOf);
  const rollouts = byGroup.flat();
  const rewardsG = byGroup
    .flatMap(comparable)
    .map((group) => group.map(({ rewards }) => rewards.reward ?? null).filter((reward) => reward !== null));
  const reward = mean(rewardsG.flat());
  const answered = answering(byGroup);
  const gold = exactShare(answered);
  const proposed = proposalOutcomes(proposals);
  const judgments = judged(groups);
  const valid = judgments.filter(({ sample }) => sample.outcome === 'ok');
  const count = (right: boolean, hit: boolean) =>
    valid.filter((j) => j.right === right && j.hit === hit).length;
  const everyone = [
    ...proposals.samples,
    ...groups.flatMap(({ samples, judgments }) => [...samples, ...judgments]),
  ];
  return {
    groups: groups.length,
    rollouts: rollouts.length,
    reward,
    gold,
    ...gapOf(byGroup, ownScale ? null : reward, gold),
    formatRate: share(rollouts, ({ turns }) => turns.every(({ outcome }) => outcome === 'ok')),
    workedShare: worked
      ? share(rollouts, ({ turns: [first] }) => first!.outcome === 'ok' && worked(decode(first!.ids)))
      : null,
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
