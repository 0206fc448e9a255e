/**
 * Demonstrations of the prover’s roles, for the warm start: a prover that writes a line that does not follow in one derivation of four, and a judge
 * that sees derivations with none, one and two such lines.
 */
import type { Random } from '../../core/random.ts';
import type { Demonstration } from '../arithmetic/demonstrations.ts';
import { demonstrateRole } from '../role-demonstrations.ts';
import { flawedDerivation, randomRewriting, rewriting, writeProposal } from './family.ts';

const WRONG = 0.25;
/** Shares of the demonstrations by role. A proposer writes derivations as a solver does, and needs nearly as many of them. */
const SHARES = { solver: 0.42, judge: 0.23, proposer: 0.35 };
/** Of derivations with 0, 1, 2 lines replaced, among those that a judge sees. */
const ERRORS = [0.4, 0.4, 0.2];

export const demonstrateRewriting = (random: Random): Demonstration =>
  demonstrateRole(random, {
    family: rewriting,
    shares: SHARES,
    task: (from) => randomRewriting(from),
    proposal: writeProposal,
    solution: (from, task) => flawedDerivation(from, task, Number(from.bool(WRONG))),
    judged: (from, task) => flawedDerivation(from, task, from.weighted(ERRORS)),
  });
