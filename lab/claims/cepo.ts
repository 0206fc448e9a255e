/** CEPO’s claim: two contexts point at the token that decides an attempt, and weighting by them costs nothing. */
import type { ArmResults, Claim, Condition } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises } from '../rule/conditions.ts';
import { early } from '../rule/curves.ts';

/** By how much evidence is stronger where an attempt is decided than behind, nats a token, over the first three rounds. */
const pointed = (results: ArmResults, arm: string, seed: number): number =>
  early(results, arm, seed, 'atDecisive') - early(results, arm, seed, 'behind');
const POINTED = 'evidence at the decisive token minus that behind it, first three rounds, nats';
const pointedAbove = (other: string): Condition => ({
  description: `${POINTED}, cepo above ${other}`,
  measure: (r, s) => pointed(r, 'cepo', s) - pointed(r, other, s),
  atLeast: 0.2,
});

export const claim: Claim = {
  description:
    'How much likelier a token is after a right solution than after a rejected one points at the token that decides an attempt, more than its comparison with no solution does, and not where the solutions are another task’s. An advantage that is weighted by it teaches more than one that all tokens share.',
  rounds: 12,
  evaluateEvery: 4,
  arms: [
    { name: 'cepo', description: 'as published' },
    { name: 'grpo', variant: 'grpo', description: 'all tokens of an attempt share its advantage' },
    {
      name: 'one context',
      variant: 'one-context',
      description: 'the right solution is told, and compared with nothing told',
    },
    {
      name: 'shuffled answers',
      variant: 'shuffled-answers',
      description: 'the solutions that are told belong to another task',
    },
    coinArm('a coin says which attempts are right'),
    formatArm('every well-formed attempt is right'),
  ],
  conditions: [
    { description: POINTED, measure: (r, s) => pointed(r, 'cepo', s), atLeast: 0.2 },
    pointedAbove('one context'),
    pointedAbove('shuffled answers'),
    endsAbove('cepo', 'grpo', 0.02),
    endsAbove('cepo', 'shuffled answers', 0.02),
    rises('cepo', 0.05),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('cepo', 'one context', 0.02),
    endsAbove('cepo', 'grpo', 0.02, 'accuracy'),
    endsAbove('one context', 'grpo', 0.02),
  ],
  diagnosis:
    'The contrast of two contexts points at the token that decides an attempt, and pointing there buys nothing. Evidence is 1.11 nats stronger at the decisive token than behind it (1.04 to 1.18), where one context has 0.59 less and the solutions of another task have none. But a policy that is weighted by it ends where GRPO ends (−0.1 points of sampled accuracy, −1.1 to 0.9), where one context ends, and where weights from another task’s solutions end, so that no gain is due to the evidence. The weights are gentle by the paper’s own bounds: a token’s advantage changes by a tenth at most, λ falling from 0.5, and answers here have a dozen tokens, of which the advantage reaches the decisive one anyway. All arms sharpen more than they learn: sampled accuracy rises by ten points, greedy accuracy by two to three.',
};
