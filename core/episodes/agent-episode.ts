/**
 * Episodes that a program outside the mesh holds with a policy: an agent asks an endpoint, acts on the answers, and says at the end what
 * the episode is worth. Like the answer of a reward service, what it asked and what it said cannot be had a second time: both are recorded,
 * and an audit takes them from the record. What the policy answered depends on the recorded prompt alone, and can be drawn again.
 */

import type { Score } from '../net/reward-service.ts';
import type { TokenIds } from '../policy/policy.ts';
import { rolloutId, turnId } from '../round/sample-ids.ts';

/** The seats that agents hold, and what they are told of a task. */
export interface AgentSeats {
  /** Roles of the recipe, one or more. Each has a history, a version and a reward of its own. */
  readonly seats: readonly string[];
  /** A task as an agent gets it, as JSON. */
  readonly taskView: (task: string) => unknown;
}

/** One question of an agent to a policy. */
export interface AgentCall {
  /** The seat that asked. */
  readonly role: string;
  /** The number of the call in its episode, from 0 and over all seats; calls that were never answered leave gaps. */
  readonly turn: number;
  readonly prompt: TokenIds;
  /** New tokens at most. */
  readonly maxNew: number;
  /** What the agent said that this answer was paid; absent where it said nothing of it. */
  readonly reward?: number;
}

/** An episode that has ended. */
export interface AgentEpisode {
  /** Its number among the rollouts of its task. */
  readonly sample: number;
  /** In the order of `turn`. */
  readonly calls: readonly AgentCall[];
  /** By each seat that got an answer: what the agent posted, or why there is nothing. */
  readonly rewards: Readonly<Record<string, Score>>;
}

/** The episodes of a group, in the order of `sample`. */
export type EpisodesOf = (group: string) => Promise<readonly AgentEpisode[]>;

/** The id of the sample that answers a call: it keys the draws. */
export const callSampleId = (group: string, role: string, sample: number, turn: number): string =>
  turnId(rolloutId(group, role, sample), turn);
