/** What STP trains on: which conjectures, which proofs, and with which weights. Pure functions. */
import { charBleu } from '../../core/text/bleu.ts';

/** A statement or conjecture with the attempts at it, in one round. */
export interface Attempted {
  readonly task: string;
  /** Attempts, and the texts of those that were accepted; the same text may come twice. */
  readonly attempts: number;
  readonly proofs: readonly string[];
}

/** Conjectures are kept that some attempts prove, and no more than a quarter. */
const HARDEST = 0.25;
/** Share of the kept conjectures that is dropped because their proofs are short beside their statements. */
const INELEGANT = 0.2;
/** Most that a conjecture counts for by matching, relative to the mean. */
const MOST_WEIGHT = 4;
/** Proofs are kept of what at most half of the attempts prove. */
const HARD = 0.5;
/** Discount of a proof's weight for each token. */
const LENGTH_DISCOUNT = 0.001;

const rateOf = ({ attempts, proofs }: Attempted): number => proofs.length / attempts;

/** Length of the shortest accepted proof, for each character of the statement: a conjecture with a short proof of a long statement teaches little. */
export const elegance = ({ task, proofs }: Attempted): number =>
  Math.min(...proofs.map(({ length }) => length)) / task.length;

/** Conjectures at the edge of what the prover can do, without the fifth whose proofs are shortest beside their statements. */
export function barelyProved<A extends Attempted>(conjectures: readonly A[]): A[] {
  const edge = conjectures.filter((one) => one.proofs.length > 0 && rateOf(one) <= HARDEST);
  const dropped = new Set(
    [...edge].sort((a, b) => elegance(a) - elegance(b)).slice(0, Math.floor(INELEGANT * edge.length)),
  );
  return edge.filter((one) => !dropped.has(one));
}

/**
 * Weights that bring the conjectures near to the statements that are still to be proved: every such statement gives its weight to the
 * conjecture that is most like it by BLEU of characters, which is what minimises the transport distance between the two. Their mean is 1
 * before they are cut off at 4. Without targets all are 1. -> [conjectures]
 */
export function matchingWeights(conjectures: readonly string[], targets: readonly string[]): number[] {
  if (targets.length === 0) return conjectures.map(() => 1);
  const votes = conjectures.map(() => 0);
  for (const target of targets) {
    const likeness = conjectures.map((conjecture) => charBleu(conjecture, target));
    const nearest = likeness.indexOf(Math.max(...likeness));
    if (nearest >= 0) votes[nearest]!++;
  }
  return votes.map((count) => Math.min(MOST_WEIGHT, (count * conjectures.length) / targets.length));
}

export interface Proof {
  readonly task: string;
  readonly text: string;
  readonly weight: number;
}

/** Distinct proofs of what half of the attempts or fewer prove. Those of one statement share a weight of 1, less for long ones; `lengthOf` in tokens. */
export const hardProofs = (all: readonly Attempted[], lengthOf: (text: string) => number): Proof[] =>
  all
    .filter((one) => one.proofs.length > 0 && rateOf(one) <= HARD)
    .flatMap(({ task, proofs }) => {
      const distinct = [...new Set(proofs)];
      return distinct.map((text) => ({
        task,
        text,
        weight: Math.exp(-LENGTH_DISCOUNT * lengthOf(text)) / distinct.length,
      }));
    });
