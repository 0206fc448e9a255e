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
  columns: {
    label: 'share of the coins',
    meaning:
      'The mean share of the coins in 50 negotiations with advice and 50 without, all moves sampled. Greedy play is not measured.',
  },
  gap: {
    figures: [],
    label: 'paid by the game',
    meaning: 'There is none. The game itself pays the share of the coins, and there is no label beside it.',
  },
  diagnosis:
    'The strategist learns, and its advice is worth no more than none. The start’s advice is drawn at random and costs the actor 8 points of the coins (50.6 % without advice, 42.6 with); training recovers 6.4 of them (5.4 to 7.4), on every seed, and ends at 49.0 %, 1.6 points below the same actor without any (0.6 to 2.6). That the headline is reversed says less than its interval: what version 0 earns without advice is one sample of 50 negotiations (standard error 1.8 points), the same for all seeds, and the interval is that of the trained side alone. On other deals version 0 had 49.0 %. What can be said is that trained advice is not half a coin better than none, which was asked. The same holds of the actor that was trained itself: it ends at 48.5 % and seems to fall by 2.2 points, where a pilot on other deals rose from 49.0 to 51.4 and its training reward from 49 to 51. At equal tokens the two end level (0.6 points apart, −0.4 to 1.5). A strategist for the partner, trained with the same weights, changes nothing against version 0 (48.8 %), and a coin teaches nothing (41.1, from 42.6). How much these four words could add at best is not known; each stands for an offer that is fixed. All seeds begin from one start.',
};
