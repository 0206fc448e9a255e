/** Win rates of the responses to a prompt, and the pair that they make, for preference objectives (SPPO: Wu et al., 2024, arXiv:2405.00675). */
import type { PreferencePair } from '../core/plan/training-plan.ts';
import { bestAgainstWorst, winRates } from '../core/rl/selection/index.ts';
import type { ScoredGroup } from '../core/schema/sample.ts';
import { sequenceOf } from './style-responder.ts';

/** The probability that a response is preferred to another, by their rewards. */
const preferred = (reward: number, other: number): number =>
  reward === other ? 0.5 : Number(reward > other);

/** The groups with the win rate of each response, in [0, 1], in place of its reward; a response without a reward is left out. */
export const withWinRates = (groups: readonly ScoredGroup[]): ScoredGroup[] =>
  groups.map((group) => {
    const known = group.samples.flatMap(({ id, rewards: { reward } }) =>
      typeof reward === 'number' ? [{ id, reward }] : [],
    );
    const rates = winRates(known.map((a) => known.map((b) => preferred(a.reward, b.reward))));
    const rateOf = new Map(known.map(({ id }, i) => [id, rates[i]!]));
    return {
      ...group,
      samples: group.samples.map((sample) => ({
        ...sample,
        rewards: { ...sample.rewards, reward: rateOf.get(sample.id) ?? null },
      })),
    };
  });

/** The best and the worst response of each group by win rate, with both rates; equal rates make no pair. */
export const winRatePairs = (
  groups: readonly ScoredGroup[],
): (PreferencePair & Required<Pick<PreferencePair, 'winRates'>>)[] =>
  groups.flatMap(({ samples }) => {
    const rates = samples.map(({ rewards }) => rewards.reward ?? null);
    const pair = bestAgainstWorst(rates);
    if (!pair) return [];
    const [chosen, rejected] = [samples[pair.chosen]!, samples[pair.rejected]!];
    const both: [number, number] = [rates[pair.chosen]!, rates[pair.rejected]!];
    return [{ chosen: sequenceOf(chosen), rejected: sequenceOf(rejected), winRates: both }];
  });
