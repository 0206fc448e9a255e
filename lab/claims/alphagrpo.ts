/** The claim of AlphaGRPO: questions about single properties teach a drawer more than one verdict on the whole, and a look at a drawing mends it. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { atEnd, lately } from '../rule/curves.ts';

const SKILL = 'accuracy';

export const claim: Claim = {
  description:
    'A drawer that is paid for single properties of its drawing comes to draw more held-out wishes exactly than one that is paid where all are right. Fewer of its groups teach nothing, and after a look at what it drew more drawings are right.',
  rounds: 24,
  tokens: 66_000,
  evaluateEvery: 24,
  pictures: { accuracy: 'First drawings as wanted, greedy', redrawn: 'Drawings as wanted after a look' },
  arms: [
    { name: 'alphagrpo', description: 'as published: questions about single properties' },
    { name: 'holistic', variant: 'holistic', description: 'paid where every answer is the wanted one' },
    {
      name: 'no reflection',
      variant: 'no-reflection',
      seedCount: 4,
      description: 'nobody draws again; as many first drawings are made',
    },
    { name: 'gold', reward: 'exact', seedCount: 4, description: 'upper bound: the checker pays' },
    {
      name: 'other pictures',
      variant: 'other-pictures',
      seedCount: 4,
      description: 'control: questions are asked about other drawings',
    },
    coinArm('a fair coin pays a drawing'),
    formatArm('any drawing that can be painted is paid'),
  ],
  conditions: [
    endsAbove('alphagrpo', 'holistic', POINTS, SKILL),
    rises('alphagrpo', POINTS, SKILL),
    {
      description: 'share of groups that teach nothing, last five rounds, holistic above alphagrpo',
      measure: (r, s) => lately(r, 'holistic', s, 'deadGroups') - lately(r, 'alphagrpo', s, 'deadGroups'),
      atLeast: 0.1,
    },
    doesNotRise('other pictures', POINTS, SKILL),
    doesNotRise('random', POINTS, SKILL),
  ],
  observations: [
    {
      description: 'alphagrpo: drawings as wanted at the end, after a look above before it',
      measure: (r, s) => atEnd(r, 'alphagrpo', s, 'redrawn') - atEnd(r, 'alphagrpo', s, SKILL),
      atLeast: POINTS,
    },
    endsAbove('alphagrpo', 'no reflection', POINTS, SKILL),
    endsAbove('gold', 'alphagrpo', POINTS, SKILL),
    endsAbove('alphagrpo', 'format', POINTS, SKILL),
  ],
};
