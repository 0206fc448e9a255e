/**
 * Ids of the groups and samples of a round. Each is derived from what it belongs to, so that doing a message again gives the same
 * ids, and a sample can be found without an index. The id also keys the random numbers that the sample is drawn with.
 */
import { deriveId } from '../random.ts';

/** The group of a round's task number `index`. */
export const groupId = (round: string, index: number): string => deriveId(round, 'group', index);

/** Proposal number `index` of a role; `attempt` where the role proposes in several batches. */
export const proposalId = (round: string, role: string, index: number, attempt?: number): string =>
  attempt === undefined ? deriveId(round, role, index) : deriveId(round, role, attempt, index);

/** Rollout number `index` of a group. */
export const rolloutId = (group: string, role: string, index: number): string => deriveId(group, role, index);

/** Turn number `turn` of an episode, whose seat there has the id `seat`: that of its rollout. */
export const turnId = (seat: string, turn: number): string => deriveId(seat, 'turn', turn);

/** Judgment number `vote` of a sample by a role. */
export const judgmentId = (sample: string, role: string, vote: number): string =>
  deriveId(sample, role, vote);
