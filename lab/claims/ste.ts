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
};
