/** CEPO’s claim: two contexts point at the token that decides an attempt, and weighting by them costs nothing. */
import type { ArmResults, Claim, Condition } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises } from '../../core/claims/conditions.ts';
import { early } from '../../core/claims/curves.ts';

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
};
