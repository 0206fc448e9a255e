/** The claim of EPO: a frozen actor that is advised by a trained strategist earns more than the same actor alone. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm } from '../rule/conditions.ts';
import { atEnd, curveOf, rise } from '../rule/curves.ts';

const ADVISED = 'score.split-advised';
const ALONE = 'score.split';
/** Half a coin of ten. */
const LEAST = 0.05;

/** What the actor earns by the arm’s advice at the end, less what it earns without any and without training. */
const aboveActor =
  (arm: string): Measure =>
  (r, s) =>
    atEnd(r, arm, s, ADVISED) - curveOf(r, arm, s, ALONE)[0]!;

export const claim: Claim = {
  description:
    'An actor that divides ten coins with a partner and is never trained earns more by the advice of a strategist that is, than it does alone. To train the strategist is worth as much as to train the actor itself, at equal sampled tokens.',
  rounds: 60,
  tokens: 85_000,
  evaluateEvery: 60,
  pictures: {
    [ADVISED]: 'Share of the coins, the actor advised',
    [ALONE]: 'Share of the coins, the actor alone',
  },
  arms: [
    { name: 'epo', description: 'as published: the strategist is trained, actor and partner are version 0' },
    {
      name: 'actor alone',
      variant: 'actor-alone',
      description: 'no strategist; the actor is trained against the same partner',
    },
    {
      name: 'self-play',
      variant: 'self-play',
      seedCount: 4,
      description: 'the partner has a strategist too, who is trained with the same weights',
    },
    coinArm('a fair coin pays the strategist'),
  ],
  conditions: [
    {
      description: 'share of the coins, the actor by epo’s advice at the end above the same actor alone',
      measure: aboveActor('epo'),
      atLeast: LEAST,
    },
    {
      description: 'epo: share of the coins by its advice rises',
      measure: (r, s) => rise(r, 'epo', s, ADVISED),
      atLeast: LEAST,
    },
    {
      description: 'share of the coins at the end, epo no lower than actor alone by more than 0.05',
      measure: (r, s) => atEnd(r, 'epo', s, ADVISED) - atEnd(r, 'actor alone', s, ALONE),
      atLeast: -LEAST,
    },
    {
      description: 'random: share of the coins by its advice does not rise',
      measure: (r, s) => rise(r, 'random', s, ADVISED),
      atMost: 0.03,
      control: true,
    },
  ],
  observations: [
    {
      description: 'share of the coins at the end against version 0, self-play above epo',
      measure: (r, s) => atEnd(r, 'self-play', s, ADVISED) - atEnd(r, 'epo', s, ADVISED),
      atLeast: LEAST,
    },
    {
      description: 'actor alone: share of the coins rises',
      measure: (r, s) => rise(r, 'actor alone', s, ALONE),
      atLeast: LEAST,
    },
  ],
};
