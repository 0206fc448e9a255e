/**
 * A trained proposer that is paid for the hardest tasks which are solved at all, and a little for those that are not, on starts that nobody has seen: from
 * three of the eight starts of the claim trio-in-composition a proposer stayed at a depth that its solver had learnt.
 */
import { composition } from 'rollmesh';
import type { Claim, Condition } from '../rule/claim.ts';
import { endsAbove } from '../rule/conditions.ts';
import { atEnd, curveOf } from '../rule/curves.ts';
import { aboveStart, rightAt, rightSteps } from './trio-in-composition.ts';

const DEPTHS = [3, 4, 5];

const above = (other: string, depth: number, atLeast: number): Condition => ({
  ...endsAbove('frontier', other, atLeast, rightAt(depth)),
  description: `depth ${depth}, ${rightSteps}, at the end: frontier above ${other}`,
});

export const claim: Claim = {
  recipe: 'trio-in-composition',
  description:
    'At equal sampled tokens, and whichever start it begins from, a solver whose proposer is paid for hard tasks, and a little for unsolved ones, solves tasks of four calls that a solver with a frozen proposer does not. No task of more than four calls is used.',
  startSeeds: 'one each',
  seeds: [8, 9, 10, 11, 12, 13, 14, 15],
  rounds: 120,
  tokens: 200_000,
  evaluateEvery: 20,
  examination: { family: composition, role: 'solver', levels: [4] },
  pictures: Object.fromEntries(DEPTHS.map((depth) => [rightAt(depth), `Depth ${depth}: ${rightSteps}`])),
  arms: [
    {
      name: 'frontier',
      variant: 'frontier',
      freeze: [],
      description: 'the proposer is trained, and paid 1 - p, or 1/4 for what is never solved',
    },
    {
      name: 'frozen',
      variant: 'frontier',
      freeze: ['proposer'],
      description: 'the proposer stays as the start has it',
    },
    {
      name: 'as before',
      variant: 'to-four',
      freeze: [],
      description: 'the proposer is trained, and paid 4p(1 - p)',
    },
  ],
  partners: [{ partner: 'proposer', trained: 'frontier', frozen: 'frozen' }],
  conditions: [above('frozen', 4, 0.2), above('as before', 4, 0.05), aboveStart('frontier', 4, 0.2)],
  observations: [
    above('frozen', 3, 0.05),
    above('frozen', 5, 0.05),
    above('as before', 5, 0.05),
    {
      ...endsAbove('as before', 'frozen', 0.2, rightAt(4)),
      description: `depth 4, ${rightSteps}, at the end: as before above frozen`,
    },
    {
      description: 'depth 4, every step right: frontier with one sample at the end above version 0 with 64',
      measure: (r, s) => atEnd(r, 'frontier', s, 'pass1.4') - curveOf(r, 'frontier', s, 'pass64.4')[0]!,
      atLeast: 0.05,
    },
  ],
};
