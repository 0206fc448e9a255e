/**
 * GRPO on two levels (prime-rl): solvers are compared inside one proposal's episode, proposers across the proposals that were
 * drawn from the same seed. Neither level sees the other's spread.
 */
import type { Key, Maybe } from '../types.ts';
import { meanCentred } from './mean-centred.ts';

export interface ProposalEpisode {
  /** Proposals with the same seed are compared with each other. */
  readonly seed: Key;
  readonly reward: Maybe;
  /** Rewards of the solvers that worked on this proposal. */
  readonly solvers: readonly Maybe[];
}

/** Episodes [n] -> proposer [n] and solver [n][solvers] advantages, r − mean; alone: 0; missing: null. */
export function hierarchicalGrpo(episodes: readonly ProposalEpisode[]): {
  proposer: Maybe[];
  solver: Maybe[][];
} {
  return {
    proposer: meanCentred(
      episodes.map(({ reward }) => reward),
      episodes.map(({ seed }) => seed),
    ),
    solver: episodes.map(({ solvers }) =>
      meanCentred(
        solvers,
        solvers.map(() => 0),
      ),
    ),
  };
}
