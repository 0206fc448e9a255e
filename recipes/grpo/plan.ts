/** What a round of grpo trains: advantages by a variant's estimator, for each trained seat, in the variant's objective. */
import * as v from 'valibot';
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type {
  LearnTools,
  PolicyItem,
  RoundRecords,
  TrainingPlan,
  UpdatePart,
  ValuePart,
} from '../../core/plan/training-plan.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { gae, reinforcePlusPlus } from '../../core/rl/estimators/index.ts';
import { mean, whiten } from '../../core/rl/statistics.ts';
import type { Seat } from '../../core/schema/agent.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { ONE_SEAT, setOf, trainedSeats } from '../../protocols/agent-round.ts';
import { episodeItems, returnOf, rewardsToGo } from '../../protocols/episode-credit.ts';
import { rewardFigures } from '../../protocols/questions/weighted-reward.ts';
import { writtenBy } from '../../protocols/samples-of-role.ts';
import { entryNamed, groupItems, policyPart, rewardOf } from '../../protocols/solver.ts';
import { type Estimator, GRPO, type Method, type RunningBaseline, VARIANTS } from './variants.ts';

/** What a version carries for the variants with a running baseline: that of each role, in the reward's own unit. */
export const runningBaselines = v.object({ baselines: v.record(v.string(), finite) });

export const CRITIC = 'critic';
const GAMMA = 1;
const LAMBDA = 0.95;

/**
 * What a turn of an agent's episode is credited with: the episode's reward, compared with the group's other episodes; or its reward to go,
 * compared with those of all turns of the group.
 */
export const TURN_CREDITS = ['episode', 'turn'] as const;
export type TurnCredit = (typeof TURN_CREDITS)[number];

export const methodOf = (variant: string | undefined): Method =>
  variant === undefined ? GRPO : entryNamed('variant', VARIANTS, variant);

/** The samples whose reward is known, each with its reward. */
const rewarded = ({ groups }: Pick<RoundRecords, 'groups'>) =>
  groups.flatMap(({ group, samples }) =>
    samples.flatMap((sample) => {
      const reward = rewardOf(sample);
      return reward === null || sample.ids.length === 0 ? [] : [{ group, sample, reward }];
    }),
  );

/** Token advantages by REINFORCE++: the reward is on the last token, and returns are whitened over the batch. */
function whitenedReturns(records: Pick<RoundRecords, 'groups'>): PolicyItem[] {
  const samples = rewarded(records);
  const advantages = reinforcePlusPlus(
    samples.map(({ sample, reward }) => ({ reward, mask: sample.ids.map(() => 1) })),
  );
  const of = {
    rewards: samples.map(({ reward }) => reward),
    groups: samples.map(({ group }) => group),
    lengths: samples.map(({ sample: { ids } }) => ids.length),
  };
  return samples.map(({ sample }, at) => ({ sample, advantage: advantages[at]!, credit: { of, at } }));
}

/** Token advantages by a critic, and what the critic is fitted to: the returns. */
async function byCritic(
  records: Pick<RoundRecords, 'groups'>,
  tools: Pick<LearnTools, 'values'>,
): Promise<{ items: PolicyItem[]; targets: ValuePart['items'] }> {
  const samples = rewarded(records);
  if (samples.length === 0) return { items: [], targets: [] };
  const values = await tools.values(
    CRITIC,
    samples.map(({ sample }) => sample),
  );
  const credit = samples.map(({ sample, reward }, i) => {
    const rewards = sample.ids.map((_, t) => (t === sample.ids.length - 1 ? reward : 0));
    return gae({ rewards, values: values[i]! }, { gamma: GAMMA, lambda: LAMBDA });
  });
  const white = whiten(credit.flatMap(({ advantages }) => advantages));
  let at = 0;
  const items = samples.map(({ sample }) => {
    const advantage = white.slice(at, at + sample.ids.length);
    at += sample.ids.length;
    return { sample, advantage };
  });
  const targets = samples.map(({ sample }, i) => ({ ...sample, targets: credit[i]!.returns }));
  return { items, targets };
}

/** The estimator for a role's rewards. One with a running baseline leaves the role's next baseline in `baselines`. */
const estimatorOf = (
  credit: Estimator | RunningBaseline,
  role: string,
  baselines: Record<string, number> = {},
): Estimator =>
  typeof credit === 'function'
    ? credit
    : (rewards) => {
        const { advantages, baseline } = credit.against(rewards, baselines[role] ?? 0);
        baselines[role] = baseline;
        return advantages;
      };

/** The mean reward of each of several seats over its episodes that have one. */
function seatFigures(
  { groups }: Pick<RoundRecords, 'groups'>,
  seats: readonly Seat[],
): Record<string, number> {
  if (seats.length === 1) return {};
  return Object.fromEntries(
    seats.flatMap(({ name }) => {
      const rewards = groups
        .flatMap((group) => episodesOf(writtenBy(group, name).samples))
        .flatMap((turns) => returnOf(turns) ?? []);
      return rewards.length ? [[`seatReward.${name}`, mean(rewards)]] : [];
    }),
  );
}

/** Figures that say how much of a round carried a signal. `groups`: those of each trained seat. */
function figuresOf(groups: readonly ScoredGroup[]): Record<string, number> {
  const rewards = groups.map(({ samples }) => samples.map((sample) => sample.rewards.reward ?? null));
  const unanimous = rewards.map((group) => new Set(group.filter((reward) => reward !== null)).size <= 1);
  const lengths = groups.flatMap(({ samples }) => samples.map(({ ids }) => ids.length));
  return { unanimous: mean(unanimous.map(Number)), tokens: mean(lengths), ...rewardFigures(groups) };
}

export async function planTraining(
  records: Pick<RoundRecords, 'groups' | 'recipeState'>,
  tools: Pick<LearnTools, 'values'>,
  { credit, objective, aggregation, kl }: Method,
  {
    maxNew,
    temperature = 1,
    epochs = 1,
    turnRewards = 'episode',
    seats = ONE_SEAT,
  }: {
    maxNew: number;
    temperature?: number;
    epochs?: number;
    turnRewards?: TurnCredit;
    seats?: readonly Seat[];
  },
): Promise<TrainingPlan> {
  const byTurn = turnRewards === 'turn';
  const how = { objective, aggregation: aggregation(maxNew), temperature };
  const baselines =
    typeof credit === 'object'
      ? { ...readState(runningBaselines, records.recipeState)?.baselines }
      : undefined;
  const written: ScoredGroup[] = [];
  const critic: UpdatePart[] = [];
  /** By parameter set: seats that share their weights are parts of one update. */
  const policy = new Map<string, UpdatePart[]>();
  // Each seat is compared with itself alone: in other episodes of the task, and over the batch.
  for (const seat of trainedSeats(seats)) {
    const [role, set] = [seat.name, setOf(seat)];
    const own = records.groups
      .map((group) => writtenBy(group, role))
      .filter(({ samples }) => samples.length > 0);
    written.push(...own);
    const groups = byTurn ? rewardsToGo(own) : own;
    const { items, targets } =
      credit === 'critic'
        ? await byCritic({ groups }, tools)
        : {
            items:
              credit === 'whitened-returns'
                ? whitenedReturns({ groups })
                : (byTurn ? groupItems : episodeItems)(groups, estimatorOf(credit, role, baselines)),
            targets: [],
          };
    if (targets.length) critic.push({ kind: 'value', role, weight: 1, items: targets });
    if (items.length === 0) continue;
    const near = kl ? { kl: { ...kl, reference: { ...kl.reference, set } } } : {};
    policy.set(set, [...(policy.get(set) ?? []), policyPart(role, items, { ...how, ...near })]);
  }
  return {
    updates: [
      { set: CRITIC, parts: critic, epochs },
      ...[...policy].map(([set, parts]) => ({ set, parts, epochs })),
    ].filter(({ parts }) => parts.length > 0),
    figures: {
      ...figuresOf(written),
      ...seatFigures(records, seats),
      ...Object.fromEntries(Object.entries(baselines ?? {}).map(([role, at]) => [`baseline.${role}`, at])),
    },
    ...(baselines ? { recipeState: { baselines } } : {}),
  };
}
