/** What turns of episodes are worth by an in-sample critic: its regression targets by implicit Q-learning, and advantages as process rewards. */
import type { Sequence, ValuePart } from '../../core/plan/training-plan.ts';
import { gae } from '../../core/rl/estimators/index.ts';

/** The discount of a turn. */
export const GAMMA = 0.99;
/** λ of the advantages: what share of an advantage the critic's next value leaves to the rewards after it. */
export const LAMBDA = 0.9;

/** One turn: what was read before it, and what was written. */
export type Turn = Sequence;

/** An episode whose return is paid to its last turn. */
export interface PaidEpisode {
  readonly turns: readonly Turn[];
  readonly reward: number;
}

/** All that an episode holds from its first turn to the first token of its last one: the value before a turn is one of the values of its `ids`. */
export function statesOf({ turns }: Pick<PaidEpisode, 'turns'>): Sequence {
  const { prompt } = turns[0]!;
  const last = turns.at(-1)!;
  return { prompt, ids: [...last.prompt.slice(prompt.length), last.ids[0]!] };
}

/** Where among the `ids` of `statesOf` each turn begins: [turns]. */
const beginnings = ({ turns }: Pick<PaidEpisode, 'turns'>): number[] =>
  turns.map(({ prompt }) => prompt.length - turns[0]!.prompt.length);

/** The values before an episode's turns [turns] among those of its `statesOf` [ids]. */
export const valuesBefore = (episode: Pick<PaidEpisode, 'turns'>, values: ArrayLike<number>): number[] =>
  beginnings(episode).map((at) => values[at]!);

/** Rewards of turns [turns]: 0, and the episode's return for the last one. */
const rewardsOf = ({ turns, reward }: PaidEpisode): number[] =>
  turns.map((_, t) => (t === turns.length - 1 ? reward : 0));

/** Advantages of an episode's turns [turns] by the values before them [turns]: what each turn changed, and a share of what those after it did. */
export const processRewards = (episode: PaidEpisode, values: readonly number[]): number[] =>
  gae({ rewards: rewardsOf(episode), values }, { gamma: GAMMA, lambda: LAMBDA }).advantages;

/** What the values before an episode's turns [turns] are drawn to: r + γ·V of the state that the turn led to, which is its Q where worlds have no chance. */
const targetsOf = (episode: PaidEpisode, values: readonly number[]): number[] =>
  rewardsOf(episode).map((reward, t) => reward + GAMMA * (values[t + 1] ?? 0));

/** Weights of an episode's turns [turns]: 1, and up to 1 + the episode's return the nearer they are to the end. */
const weightsOf = ({ turns, reward }: PaidEpisode): number[] =>
  turns.map((_, t) => 1 + reward * 0.5 ** (turns.length - 1 - t));

/** An item of the critic's regression over a whole episode. All tokens that begin no turn weigh nothing. */
export function regression(episode: PaidEpisode, values: readonly number[]): ValuePart['items'][number] {
  const states = statesOf(episode);
  const targets = states.ids.map(() => 0);
  const weights = states.ids.map(() => 0);
  const [drawnTo, weighs] = [targetsOf(episode, values), weightsOf(episode)];
  for (const [t, at] of beginnings(episode).entries()) {
    targets[at] = drawnTo[t]!;
    weights[at] = weighs[t]!;
  }
  return { ...states, targets, weights };
}

/** The same as an item for each turn [turns], for turns that need not go on from each other. The return counts from 0 to 1 in a weight, whatever the scale of rewards is. */
export function turnRegression(
  episode: PaidEpisode,
  values: readonly number[],
): ValuePart['items'][number][] {
  const drawnTo = targetsOf(episode, values);
  const weighs = weightsOf({ ...episode, reward: Math.min(1, Math.max(0, episode.reward)) });
  return episode.turns.map(({ prompt, ids }, t) => ({
    prompt,
    ids: ids.slice(0, 1),
    targets: [drawnTo[t]!],
    weights: [weighs[t]!],
  }));
}
