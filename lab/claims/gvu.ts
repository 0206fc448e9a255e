/** The claim of GvU: a drawer learns from how well its own eyes read the wanted words from what it drew. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';

const SKILL = 'accuracy';

export const claim: Claim = {
  description:
    'A drawer that is paid by how well its own weights read what was wanted from its drawing comes to draw held-out wishes exactly, and more of them than one whose reader looks for shapes alone, without their colours and sizes. A reader that sees another drawing teaches nothing.',
  rounds: 24,
  tokens: 58_000,
  evaluateEvery: 24,
  arms: [
    { name: 'gvu', description: 'as published' },
    {
      name: 'shapes alone',
      variant: 'no-attributes',
      description: 'the reader is to find shapes, and neither colours nor sizes',
    },
    {
      name: 'frozen reader',
      variant: 'frozen-reader',
      seedCount: 4,
      description: 'drawings are read by the start policy',
    },
    { name: 'gold', reward: 'exact', seedCount: 4, description: 'upper bound: the checker pays' },
    {
      name: 'other pictures',
      variant: 'other-pictures',
      seedCount: 4,
      description: 'control: the reader is shown another drawing',
    },
    coinArm('a fair coin pays a drawing'),
    formatArm('any drawing that can be painted is paid'),
  ],
  conditions: [
    endsAbove('gvu', 'shapes alone', POINTS, SKILL),
    rises('gvu', POINTS, SKILL),
    doesNotRise('other pictures', POINTS, SKILL),
    doesNotRise('random', POINTS, SKILL),
  ],
  observations: [
    rises('gvu', POINTS),
    endsAbove('gvu', 'frozen reader', POINTS, SKILL),
    endsAbove('gold', 'gvu', POINTS, SKILL),
    endsAbove('gvu', 'format', POINTS, SKILL),
  ],
};
