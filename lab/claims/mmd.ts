/** The claim of magnetic mirror descent: self-play that is held near its own past comes near an equilibrium, where plain self-play circles it. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, difference, rises } from '../rule/conditions.ts';
import { atEnd, curveOf } from '../rule/curves.ts';
import { IN_ZERO_SUM_GAMES } from '../rule/zero-sum.ts';

const EXPLOITABILITY = 'exploitability';

/** How much of the start’s exploitability is gone at the end, as a share. */
const gone =
  (arm: string): Measure =>
  (r, s) =>
    1 - atEnd(r, arm, s, EXPLOITABILITY) / curveOf(r, arm, s, EXPLOITABILITY)[0]!;

export const claim: Claim = {
  description:
    'A policy that plays Kuhn poker against itself, held near a magnet that moves, loses less than a tenth of what its start loses to perfect opponents.',
  rounds: 360,
  evaluateEvery: 120,
  pictures: {
    [EXPLOITABILITY]: 'What perfect opponents win in Kuhn poker, in antes',
    accuracy: 'Mean score against version 0 in held-out games',
  },
  arms: [
    { name: 'mmd', description: 'self-play with a magnet that moves' },
    {
      name: 'fixed opponent',
      variant: 'fixed-opponent',
      seedCount: 2,
      description: 'the other seat is played by version 0',
    },
    {
      name: 'no baseline',
      variant: 'no-baseline',
      seedCount: 2,
      description: 'self-play with the magnet; the return itself is the advantage',
    },
    {
      name: 'no magnet',
      variant: 'no-magnet',
      seedCount: 2,
      description: 'plain self-play, with the same steps',
    },
    coinArm('a fair coin pays each seat', { seedCount: 1 }),
  ],
  conditions: [
    {
      description: 'mmd: share of the start’s exploitability that is gone at the end',
      measure: gone('mmd'),
      atLeast: 0.9,
    },
    {
      description: 'fixed opponent: that share',
      measure: gone('fixed opponent'),
      atMost: 0.7,
      control: true,
    },
    {
      description: 'no magnet: that share',
      measure: gone('no magnet'),
      atMost: 0.7,
      control: true,
    },
    {
      description: 'random: that share',
      measure: gone('random'),
      atMost: 0.3,
      control: true,
    },
  ],
  observations: [
    {
      description: 'no baseline: exploitability at the end above that of mmd',
      measure: difference('no baseline', 'mmd', EXPLOITABILITY),
      atLeast: 0.01,
    },
    rises('mmd', 0.05, 'accuracy'),
    rises('fixed opponent', 0.05, 'accuracy'),
  ],
  ...IN_ZERO_SUM_GAMES,
  diagnosis:
    'Held near a magnet, self-play ends at 0.035 antes on average (0.013 to 0.065), a sixth of the start’s 0.209. One seed of eight is below a tenth, and two are at 0.021 and 0.024. It may not have ended: the mean is 0.068 after 120 rounds and 0.043 after 240. Explorations with these and nearly these settings had ended at 0.014, 0.016 and 0.020, better than all but one of the eight; the bound was set by them. Against a fixed opponent two seeds become easier to exploit (0.270 and 0.238), while they alone gain against version 0 (6.5 points of score). With the same steps and no magnet one seed ends at 0.333, which is what always betting and calling loses, and the other stops writing moves (1). Without a baseline two seeds end at 0.032 and 0.056, and with one the same two at 0.024 and 0.021. A coin ends at 0.306. All seeds begin from one start.',
};
