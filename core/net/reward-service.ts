/**
 * A reward that an HTTP service gives, one request a group. Its answer is recorded before it is used: the service is asked once, an audit
 * takes the answer from the record, and what cannot be used is recorded as missing data with its kind.
 */
import * as v from 'valibot';
import type { RewardRollout, RewardTask } from '../recipe/reward-function.ts';
import { type MissingReward, missingReward } from '../schema/missing-reward.ts';
import { isPayment, payment } from '../schema/numbers.ts';

/** A number, or why there is none. */
export type Score = number | MissingReward;
export const scores = v.array(v.union([payment, missingReward]));

/** What a service is asked about a group. */
export interface ServiceQuestion {
  readonly url: string;
  /** Name of the reward. */
  readonly reward: string;
  readonly round: string;
  readonly group: string;
  readonly task: RewardTask;
  readonly rollouts: readonly (RewardRollout & { readonly id: string })[];
}

/** The scores of the question's rollouts, in their order. Never throws for what the service does. */
export type AskService = (question: ServiceQuestion) => Promise<readonly Score[]>;

/** The body of the request. */
export const questionBody = ({ url: _, ...question }: ServiceQuestion): string =>
  JSON.stringify({ v: 1, ...question });

const answerSchema = v.object({ rewards: v.array(v.unknown()) });

/** The scores of `count` rollouts from the body of an answer, `{"rewards": [1, null, …]}`. */
export function parseAnswer(body: string, count: number): Score[] {
  const unreadable = () => new Array<Score>(count).fill('unreadable');
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return unreadable();
  }
  const parsed = v.safeParse(answerSchema, value);
  if (!parsed.success || parsed.output.rewards.length !== count) return unreadable();
  return parsed.output.rewards.map((reward) => {
    if (reward === null) return 'not-rated';
    return isPayment(reward) ? reward + 0 : 'not-a-number';
  });
}

/** Where the answer about a group is recorded. */
export const serviceKey = ({ round, group, reward }: Pick<ServiceQuestion, 'round' | 'group' | 'reward'>) =>
  `rounds/${round}/groups/${group}/reward-${reward}.json`;
