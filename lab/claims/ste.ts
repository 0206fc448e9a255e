/** The claim of STE: a stylist that learns which marks are hard and look real teaches an eraser more than styles by lot. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, POINTS, rises, seesMore } from '../rule/conditions.ts';
import { early, lately } from '../rule/curves.ts';

/** The least difference of accuracy that is of interest. */
const LEAST = 0.03;
const SKILL = 'accuracy';

export const claim: Claim = {
  description:
    'An eraser that learns from drawings in styles that a trained stylist chose says what is beneath marks of the world, which nobody labelled, better than one that learns from styles by lot. The stylist comes to choose styles of the world, and the critic is what leads it there.',
  rounds: 30,
  tokens: 15_000,
  evaluateEvery: 30,
  pictures: { accuracy: 'Pictures of the world restored exactly', restored: 'Shapes restored' },
  arms: [
    { name: 'ste', description: 'as published' },
    { name: 'by lot', variant: 'uniform', description: 'styles are drawn by lot' },
    {
      name: 'no realism',
      variant: 'no-realism',
      seedCount: 4,
      description: 'a style is paid by how hard it is alone',
    },
    {
      name: 'no difficulty',
      variant: 'no-difficulty',
      seedCount: 4,
      description: 'a style is paid by how real it looks alone',
    },
    { name: 'fixed', variant: 'fixed', seedCount: 4, description: 'all drawings are stamped in one style' },
    {
      name: 'other pictures',
      variant: 'other-pictures',
      seedCount: 4,
      description: 'control: the eraser is taught what was drawn on another picture than it sees',
    },
    coinArm('a fair coin pays a style'),
  ],
  conditions: [
    endsAbove('ste', 'by lot', LEAST, SKILL),
    rises('ste', LEAST, SKILL),
    {
      description: 'ste: share of styles that are of the world, last five rounds less first three',
      measure: (r, s) => lately(r, 'ste', s, 'real') - early(r, 'ste', s, 'real'),
      atLeast: 0.2,
    },
    doesNotRise('other pictures', LEAST, SKILL),
  ],
  observations: [
    seesMore('ste', LEAST),
    endsAbove('ste', 'by lot', LEAST, 'restored'),
    endsAbove('ste', 'no realism', LEAST, SKILL),
    endsAbove('ste', 'no difficulty', LEAST, SKILL),
    endsAbove('ste', 'fixed', POINTS, SKILL),
    endsAbove('ste', 'random', LEAST, SKILL),
  ],
  gap: {
    figures: [],
    label: 'styles',
    meaning:
      'There is none. The stylist is paid for styles that are hard and look real, and the eraser learns from what was drawn.',
  },
  diagnosis:
    'Styles that the stylist chose teach a little more than styles by lot: 24.1 % of the pictures restored exactly, from 18.0 %, where styles by lot give 20.9 %, 3.2 points less (0.7 to 5.6), which is smaller than asked. By shapes the two are 1.4 points apart (−1.6 to 4.4). Both parts of the pay seem to matter, on four seeds each: without realism 6.2 points are lost (1.5 to 10.9), without difficulty 5.8 (−2.7 to 14.4). On five of the six seeds on which it can be measured the stylist comes to choose styles of the world; on two there is no figure. One style for all ruins the eraser (8.5 %), and whoever is taught on other pictures restores nothing. Sampled answers do not gain (15.3 to 14.3 %): what is gained is at the mode. All seeds begin from one start, and 15,000 tokens are 20 rounds.',
};
