/** The claim of iGRPO: attempts that read the best draft teach more than the same number of attempts without it. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { early } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'For as many rollouts a solver that trains on attempts after the best of its drafts answers better without any draft than one that trains on plain attempts, and than one that is shown a random or the worst draft.',
  rounds: 24,
  evaluateEvery: 8,
  arms: [
    { name: 'igrpo', description: 'as published' },
    { name: 'grpo', variant: 'grpo', description: 'as many attempts, without drafts' },
    { name: 'random draft', variant: 'random-draft', description: 'any draft is shown' },
    { name: 'worst draft', variant: 'worst-draft', description: 'the worst draft is shown' },
    coinArm('a fair coin pays drafts and attempts'),
    formatArm('any draft and any well-formed attempt is paid'),
  ],
  conditions: [
    {
      description: 'share of exact answers, first three rounds, attempts above drafts',
      measure: (r, s) => early(r, 'igrpo', s, 'attemptsExact') - early(r, 'igrpo', s, 'draftsExact'),
      atLeast: POINTS,
    },
    endsAbove('igrpo', 'grpo'),
    endsAbove('igrpo', 'random draft'),
    endsAbove('igrpo', 'worst draft'),
    rises('igrpo', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  diagnosis:
    'A draft helps whoever reads it and teaches little to whoever does not. Attempts after the best draft are exact 10 points more often than drafts are (7.9 to 12.4), as the paper needs. But the cheapest way to be paid is to hand the draft in, and that needs no sums: without a draft the policy ends 19 points of sampled accuracy below plain attempts (16 to 22), and its greedy accuracy falls by 14 points where theirs rises by 2. A random and the worst draft, which are worth less to copy, cost the greedy accuracy 4 points only. Half of the rollouts are drafts that are not trained on, which explains a part of the distance and not that skill is lost. An answer here has a dozen tokens and can be copied whole; whether a model that writes thousands copies less cannot be seen at this size.',
};
