/** The claim of RS-EoT: who was taught to ask and to look again answers questions about maps better than who answers after a glance. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises, seesMore } from '../rule/conditions.ts';

const SKILL = 'accuracy';

export const claim: Claim = {
  description:
    'A policy that first learns from conversations in which parts of a map are looked at, and is then paid for boxes and choices, answers held-out questions better than one that was taught the same answers after one glance. Both stages of rewards are needed.',
  rounds: 30,
  tokens: 60_000,
  evaluateEvery: 30,
  arms: [
    { name: 'rs-eot', description: 'as published: traces of looking, then boxes, then choices' },
    {
      name: 'one glance',
      variant: 'one-glance',
      description: 'of each trace the answer alone is taught, right after the glance',
    },
    { name: 'no traces', variant: 'no-traces', seedCount: 4, description: 'rewards from the first round on' },
    {
      name: 'no grounding',
      variant: 'no-grounding',
      seedCount: 4,
      description: 'no stage of boxes',
    },
    {
      name: 'binary',
      variant: 'binary',
      seedCount: 4,
      description: 'boxes and choices are paid where they are exact',
    },
    {
      name: 'other pictures',
      variant: 'other-pictures',
      seedCount: 4,
      description: 'control: another map is shown than the one that is asked about',
    },
    coinArm('a fair coin pays an episode'),
    formatArm('any episode that ends with an answer is paid'),
  ],
  conditions: [
    endsAbove('rs-eot', 'one glance', POINTS, SKILL),
    rises('rs-eot', POINTS, SKILL),
    doesNotRise('other pictures', POINTS, SKILL),
    doesNotRise('random', POINTS, SKILL),
  ],
  observations: [
    seesMore('rs-eot', POINTS),
    endsAbove('rs-eot', 'no traces', POINTS, SKILL),
    endsAbove('rs-eot', 'no grounding', POINTS, SKILL),
    endsAbove('rs-eot', 'binary', POINTS, SKILL),
    endsAbove('rs-eot', 'format', POINTS, SKILL),
    rises('rs-eot', POINTS, 'boxes'),
    rises('rs-eot', 1, 'looks'),
  ],
};
