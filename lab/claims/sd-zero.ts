/**
 * The claim of SD-Zero: one bit is enough to train a reviser, and a policy that the reviser teaches answers better than one that is trained by the
 * bit itself.
 */

import { mean } from 'rollmesh';
import type { ArmResults, Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises } from '../rule/conditions.ts';
import { monitorOf } from '../rule/curves.ts';
import { speed } from '../rule/speed.ts';

/** The difference of two figures of sd-zero's training plans, as a mean over the rounds `from` to `to`, both included. */
const lead = (
  results: ArmResults,
  seed: number,
  [figure, other]: readonly [string, string],
  [from, to]: readonly [number, number],
): number => {
  const over = (name: string) => mean(monitorOf(results, 'sd-zero', seed, name).slice(from - 1, to));
  return over(figure) - over(other);
};

export const claim: Claim = {
  description:
    'A policy learns from whether its attempts are right, and nothing else, to revise them better than it makes them. A policy that its reviser teaches answers better, for as many rollouts, than one that is trained by GRPO on the same bit, than one that imitates its right attempts, and than one that goes on imitating its right revisions. It needs fewer rollouts to come as far. The reviser needs the bit, and a teacher that is renewed teaches more.',
  startPolicy: 'arithmetic-reading',
  // Two attempts had 30 to 45: from a start of a sixth of the size, and with one evaluation between the start and the end.
  seeds: [46, 47, 48, 49, 50, 51, 52, 53],
  rounds: 24,
  // Half of the recipe’s tasks: with the larger policy a run of eight seeds is to take half an hour all the same.
  tasks: 16,
  evaluateEvery: 4,
  quickRounds: 10,
  arms: [
    { name: 'sd-zero', description: 'as published' },
    { name: 'grpo', variant: 'grpo', description: 'rewards alone' },
    { name: 'rft', variant: 'rft', description: 'right attempts are imitated' },
    { name: 'revision only', variant: 'revision-only', description: 'the first phase goes on to the end' },
    { name: 'no sync', variant: 'no-sync', description: 'the teacher is never renewed' },
    { name: 'no bit', variant: 'no-bit', description: 'reviser and teacher are shown the attempt alone' },
    coinArm('a coin says which attempts and revisions are right', { seedCount: 8 }),
    formatArm('every well-formed attempt is right, and every revision', { seedCount: 8 }),
  ],
  conditions: [
    {
      description: 'share of revisions that are exact minus that of attempts, sd-zero, rounds 6 to 8',
      measure: (results, seed) => lead(results, seed, ['revisionsExact', 'attemptsExact'], [6, 8]),
      atLeast: 0.05,
    },
    {
      description:
        'log-ratio of policy and teacher, sd-zero, at the first fault of wrong attempts minus in exact ones, rounds 9 to 11, nats a token',
      measure: (results, seed) => lead(results, seed, ['atFault', 'inExact'], [9, 11]),
      atLeast: 0.1,
    },
    endsAbove('sd-zero', 'grpo'),
    endsAbove('sd-zero', 'rft'),
    ...(['grpo', 'rft'] as const).map((other) => ({
      description: `sd-zero: rollouts to nine tenths of what ${other} gains, divided by those that ${other} takes`,
      measure: (results: ArmResults, seed: number) => speed(results, 'sd-zero', other, seed),
      atMost: 0.8,
    })),
    endsAbove('sd-zero', 'revision only'),
    endsAbove('sd-zero', 'no bit'),
    endsAbove('sd-zero', 'no sync', 0.03),
    endsAbove('sd-zero', 'random'),
    endsAbove('sd-zero', 'format'),
    rises('sd-zero', 0.05),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [
    endsAbove('sd-zero', 'grpo', 0.03, 'accuracy'),
    {
      description:
        'log-ratio of policy and teacher, sd-zero, in wrong attempts, at the first fault minus elsewhere, rounds 9 to 11, nats a token',
      measure: (results, seed) => lead(results, seed, ['atFault', 'elsewhere'], [9, 11]),
      atLeast: 0.1,
    },
  ],
  diagnosis:
    'From a start that reads attempts the reviser’s lesson beats rewards: the policy that it teaches ends 6.8 points of sampled accuracy above GRPO on the same bit (5.6 to 8.0), and makes nine tenths of GRPO’s gain in 0.74 of its rollouts (0.67 to 0.81; 0.8 was asked). In rounds 6 to 8 revisions are right 7.6 points more often than attempts. But to imitate right attempts, which is simpler, is better: it ends 2.4 points above SD-Zero (1.0 to 3.9) and makes nine tenths of GRPO’s gain in 0.63 of the rollouts. Little is owed to what the system adds: without the bit the policy ends 2.9 points lower (1.6 to 4.2), one that only goes on revising 2.7 lower (1.8 to 3.7), where 5 were asked of each, and a renewed teacher is not seen to add anything (0.1 points, −0.8 to 1.0). SD-Zero ends 19.6 points above a coin and 9.5 above form alone, but these rise by 22.7 and 32.8 points themselves, of its 42.3: a teacher that reads an attempt makes its likely tokens likelier, whether they are right or not, and this start’s sampled answers lie 58 points below its greedy ones, so that becoming surer is all there is to gain. Policy and teacher differ where the paper says, at the first fault of wrong attempts (by 0.99 nats a token, by 0.06 elsewhere in them and by 0.02 in exact ones, rounds 9 to 11), but the other way round: the teacher finds the fault likelier than the policy does. Greedy answers begin at 99.6 % and end 1.3 points lower (0.8 to 1.8): all of it is sharpening. The second attempt, with one evaluation between the start and the end, differs by more than a point in the renewed teacher (1.7 points, 0.2 to 3.2), the bit (4.1, 1.9 to 6.2) and the coin (14.1 points below SD-Zero, four seeds).',
};
