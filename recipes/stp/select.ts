/** The training set of STP: which conjectures, which proofs, and with which weights. Pure functions. */
import { charBleu } from '../../core/text/bleu.ts';

/** A statement or conjecture with the attempts at it, in one round. */
export interface Attempted {
  readonly task: string;
  /** The number of attempts, and the texts of those that were accepted, where a text may come twice. */
  readonly attempts: number;
  readonly proofs: readonly string[];
}

/** A conjecture is kept if at least one attempt and at most a quarter of the attempts prove it. */
const HARDEST = 0.25;
/** The share of the kept conjectures that is dropped, because their proofs are short relative to their statements. */
const INELEGANT = 0.2;
/** The largest weight that matching may give a conjecture, relative to the mean. */
const MOST_WEIGHT = 4;
/** Proofs are kept of statements that at most half of the attempts prove. */
const HARD = 0.5;
/** The discount of a proof’s weight for each of its tokens. */
const LENGTH_DISCOUNT = 0.001;

const rateOf = ({ attempts, proofs }: Attempted): number => proofs.length / attempts;

/**
 * The length of the shortest accepted proof divided by that of the statement: a conjecture with a long statement and a short proof teaches little.
 */
export const elegance = ({ task, proofs }: Attempted): number =>
  Math.min(...proofs.map(({ length }) => length)) / task.length;

/** The conjectures at the edge of what the prover can do, without the fifth whose proofs are shortest relative to their statements. */
export function barelyProved<A extends Attempted>(conjectures: readonly A[]): A[] {
  const edge = conjectures.filter((one) => one.proofs.length > 0 && rateOf(one) <= HARDEST);
  const dropped = new Set(
    [...edge].sort((a, b) => elegance(a) - elegance(b)).slice(0, Math.floor(INELEGANT * edge.length)),
  );
  return edge.filter((one) => !dropped.has(one));
}

/**
 * Weights that move the conjectures towards the statements that are still unproved. Each such statement gives its weight to the conjecture that is
 * most similar to it by BLEU of characters, which minimises the transport distance between the two. The weights have mean 1 before they are capped at
 * 4; without targets all are 1. -> [conjectures]
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

/**
 * Distinct proofs of statements that at most half of the attempts prove. The proofs of one statement share a weight of 1, discounted for length;
 * `lengthOf` is in tokens.
 */
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
