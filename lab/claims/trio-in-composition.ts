/**
 * The claim of the flagship in the world of compositions: a proposer that is trained finds what its solver can just not do, and the solver gets as far
 * as tasks that nobody trains on. Beside it stand what costs less: a frozen proposer, a rule, a fixed mixture, fine-tuning, no training at all.
 */
import { composition } from 'rollmesh';
import type { Claim, Condition, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove } from '../rule/conditions.ts';
import { atEnd, curveOf } from '../rule/curves.ts';

/** The depth that no arm trains on; deeper ones cannot be read by a start. */
const UNTRAINED = 5;
const DEPTHS = [3, 4, UNTRAINED];

const rightAt = (depth: number) => `solved.${depth}`;
const atStart = (r: Parameters<Measure>[0], arm: string, seed: number, figure: string) =>
  curveOf(r, arm, seed, figure)[0]!;

/** By how much greedy answers with every step right are above what version 0 does at its best temperature. */
const aboveStart = (arm: string, depth: number, atLeast: number): Condition => ({
  description: `depth ${depth}, greedy and every step right: ${arm} at the end above version 0 at its best temperature`,
  measure: (r, s) => atEnd(r, arm, s, rightAt(depth)) - atStart(r, arm, s, `best.${depth}`),
  atLeast,
});

const above = (other: string, depth: number, atLeast: number): Condition => ({
  ...endsAbove('trained', other, atLeast, rightAt(depth)),
  description: `depth ${depth}, greedy and every step right, at the end: trained above ${other}`,
});

export const claim: Claim = {
  description:
    'At equal sampled tokens, a solver whose proposer is trained solves compositions one call deeper than any that a run trains on, and a solver whose proposer is frozen does not.',
  startSeeds: 'one each',
  seeds: [1, 2, 3, 4, 5, 6, 7, 8],
  rounds: 120,
  tokens: 240_000,
  evaluateEvery: 10,
  examination: { family: composition, role: 'solver', levels: DEPTHS },
  pictures: Object.fromEntries(
    [2, ...DEPTHS].map((depth) => [
      rightAt(depth),
      `Depth ${depth}${depth === UNTRAINED ? ' (never trained on)' : ''}, greedy, every step right`,
    ]),
  ),
  arms: [
    {
      name: 'trained',
      variant: 'to-four',
      freeze: [],
      description: 'the proposer is trained with the solver',
    },
    {
      name: 'frozen',
      variant: 'to-four',
      freeze: ['proposer'],
      description: 'the proposer stays as the start has it',
    },
    {
      name: 'rule',
      variant: 'rule',
      description: 'a rule writes the tasks and goes deeper by the pass rate',
    },
    { name: 'mixture', variant: 'mixture', description: 'one to four calls in equal parts throughout' },
    { name: 'one call', variant: 'one-call', description: 'tasks of one call alone' },
    {
      name: 'fine-tuning',
      variant: 'fine-tuning',
      description: 'the questions of mixture, with rejection fine-tuning in place of GRPO',
    },
    coinArm('a fair coin pays the solver, and the proposer by the coin’s pass rates', {
      variant: 'to-four',
      freeze: [],
      seedCount: 8,
    }),
  ],
  partners: [{ partner: 'proposer', trained: 'trained', frozen: 'frozen' }],
  conditions: [
    above('frozen', UNTRAINED, 0.2),
    above('frozen', 4, 0.4),
    aboveStart('trained', 3, 0.25),
    aboveStart('trained', 4, 0.4),
    aboveStart('trained', UNTRAINED, 0.2),
    {
      description: 'depth 5, pass@64 by right steps: trained rises',
      measure: (r, s) => atEnd(r, 'trained', s, 'pass64.5') - atStart(r, 'trained', s, 'pass64.5'),
      atLeast: 0.2,
    },
    {
      description: 'depth 5, every step right: trained with one sample at the end above version 0 with 64',
      measure: (r, s) => atEnd(r, 'trained', s, 'pass1.5') - atStart(r, 'trained', s, 'pass64.5'),
      atLeast: 0.05,
    },
    above('rule', UNTRAINED, 0.05),
    above('mixture', UNTRAINED, 0.05),
    above('one call', UNTRAINED, 0.2),
    {
      ...endsAbove('mixture', 'fine-tuning', 0.05, rightAt(UNTRAINED)),
      description: 'depth 5, greedy and every step right, at the end: mixture (GRPO) above fine-tuning',
    },
    {
      ...doesNotRise('random', 0.05, rightAt(4)),
      description: 'random: depth 4, every step right, has not risen',
    },
  ],
};
