/** SAGE’s claim: with hints of one’s own more tasks teach, and the answers without hints become better. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { early } from '../../core/claims/curves.ts';

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
    formatArm('any attempt in form is paid'),
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
};
