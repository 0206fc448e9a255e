/**
 * The claim of SD-Zero: one bit is enough to train a reviser, and a policy that the reviser teaches answers better than one that is trained by the
 * bit itself.
 */
import type { ArmResults, Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises } from '../../core/claims/conditions.ts';
import { monitorOf } from '../../core/claims/curves.ts';
import { speed } from '../../core/claims/speed.ts';
import { mean } from '../../core/rl/statistics.ts';

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
    'From the larger start the reviser’s lesson beats rewards by what was asked for: the policy that it teaches ends 6.6 points of sampled accuracy above GRPO on the same bit (5.7 to 7.6), where it ended 3.7 above from the small start of the first attempt, and revisions are right 7.7 points more often than attempts. Less of it is owed to the bit: without it the policy ends 4.1 points lower (1.9 to 6.2), one that only goes on revising 2.8 lower (0.2 to 5.5), and one that imitates its right attempts, which is simpler, 1.8 higher (0.8 to 2.9). Both controls fail: sampled accuracy rises by 28.5 points where a coin says what is right and by 34.0 where every well-formed attempt is, against 42.9 with the true bit. A teacher that reads an attempt makes its likely tokens likelier, whether they are right or not, and this start’s sampled answers lie 58 points below its greedy ones, so that becoming surer is all there is to gain. Nor does the teacher find the fault: it gives the first fault of wrong attempts 0.99 nats more than the policy does (0.97 more than in exact ones). Renewing the teacher adds 1.7 points (0.2 to 3.2). Greedy answers begin at 99.6 % and end 0.6 to 1.9 points lower: all of it is sharpening. There were 16 tasks a round in place of 32, so that the sizes of the gains do not compare with those of the first attempt. How many samples an arm takes to reach a level was not measured: there were evaluations at the start, after 12 rounds and at the end alone.',
};
