/** The claim of SAGE: with hints that the policy writes itself, more tasks carry a signal, and the answers without hints become better. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { early } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'With hints that the policy writes itself more tasks have attempts that differ in their rewards, and after as many updates answers without hints are better than with GRPO. Hints from another task do neither.',
  rounds: 24,
  evaluateEvery: 8,
  arms: [
    { name: 'sage', description: 'as published' },
    { name: 'grpo', variant: 'grpo', description: 'nobody gives hints' },
    { name: 'start hints', variant: 'start-hints', description: 'hints are written by version 0' },
    { name: 'random hints', variant: 'random-hints', description: 'hints are those of another task' },
    coinArm('a fair coin pays attempts'),
    formatArm('any well-formed attempt is paid'),
  ],
  conditions: [
    {
      description: 'share of tasks whose attempts differ in their rewards, first six rounds, sage above grpo',
      measure: (r, s) => early(r, 'sage', s, 'taught', 6) - early(r, 'grpo', s, 'taught', 6),
      atLeast: POINTS,
    },
    {
      description:
        'share of hinted tasks whose attempts then differ, first six rounds, sage above random hints',
      measure: (r, s) => early(r, 'sage', s, 'hintsHelp', 6) - early(r, 'random hints', s, 'hintsHelp', 6),
      atLeast: 0.1,
    },
    endsAbove('sage', 'grpo'),
    endsAbove('sage', 'random hints'),
    rises('sage', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: [endsAbove('sage', 'start hints')],
  diagnosis:
    'Hints do what they are for, and it does not carry over. In the first six rounds the share of tasks whose attempts differ in their rewards is 19 points higher than with GRPO (17 to 22), and a hint from the task itself helps more often than one from another task (16 points, 7 to 25, where 10 were asked). Without hints the answers end where GRPO’s end: 0.6 points of sampled accuracy below (2.4 below to 1.1 above) for a quarter more generated tokens, and 1.9 above hints from another task (0.4 to 3.4), where five were asked. Tasks that plain attempts fail are not of another kind here, only longer odds of the same slips, which the other tasks teach to avoid as well. Both arms raise skill: greedy accuracy gains four and three points.',
};
