/**
 * A reward of the user's own: a pure function in a TypeScript module. The command that starts a run bundles the module and counts the
 * steps of every call (cli/reward-module.ts), so that a call ends after the same step wherever it runs.
 */
import type { Message } from '../renderer/message.ts';
import type { MissingReward } from '../schema/missing-reward.ts';
import { isPayment } from '../schema/numbers.ts';

/** A rollout as a reward sees it. */
export interface RewardRollout {
  /** What the policy wrote, without the token that ended it. */
  readonly text: string;
  /** The answer that was extracted from the text; null where none stands in it, or the text was cut off. */
  readonly answer: string | null;
  /** Did the policy end its answer itself, within its tokens? */
  readonly ended: boolean;
  /** Length in tokens, the end included. */
  readonly tokens: number;
}

/** A task as a reward sees it: a line of the file. */
export interface RewardTask {
  /** The conversation that was to be answered. */
  readonly messages: readonly Message[];
  /** The reference answer; empty where the file has none. */
  readonly answer: string;
  /** A worked solution, where the file has one. */
  readonly solution?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly difficulty: number | null;
}

/**
 * Rates one rollout: a finite number, or null where the rollout cannot be rated. An exception and every other value are missing data of a
 * kind of their own, and never 0.
 */
export type RewardFunction = (rollout: RewardRollout, task: RewardTask) => number | null;

/** A reward module as it was bundled: its function, and the steps that it may still take. */
export interface BoundedModule {
  readonly reward: RewardFunction;
  /** Sets how many steps (calls and turns of loops) the module may take from now on. */
  readonly allow: (steps: number) => void;
  /** Did it take them all? */
  readonly exhausted: () => boolean;
}

/** Steps of one call. A call that uses all of them takes some milliseconds. */
export const REWARD_STEPS = 1_000_000;

/** The number that the module gives, or why there is none. The module gets copies: it cannot change the record. */
export function scoreByModule(
  { reward, allow, exhausted }: BoundedModule,
  rollout: RewardRollout,
  task: RewardTask,
): number | MissingReward {
  allow(REWARD_STEPS);
  let value: unknown;
  try {
    value = reward(structuredClone(rollout), structuredClone(task));
  } catch {
    return exhausted() ? 'out-of-steps' : 'threw';
  }
  if (exhausted()) return 'out-of-steps';
  if (value === null) return 'not-rated';
  // -0 is written as 0, which JSON cannot tell apart.
  return isPayment(value) ? value + 0 : 'not-a-number';
}
