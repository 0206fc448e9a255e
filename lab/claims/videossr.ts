/** The claim of VideoSSR: puzzles that a clip makes of itself teach a policy to see clips. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, rises, seesMore } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

/** The least difference of accuracy that is of interest; the paper’s gains are some five points. */
const LEAST = 0.03;
const FALLS = 'accuracy';
const STRETCHES = 'heldOutStretches';

export const claim: Claim = {
  description:
    'A policy that is paid for puzzles about damaged, stamped and shuffled frames comes to answer what falls in held-out clips better, which is never asked in training. Smooth scores leave fewer groups that teach nothing than right and wrong do, and find damaged frames better.',
  rounds: 24,
  tokens: 21_000,
  evaluateEvery: 24,
  pictures: { accuracy: 'What falls, greedy', [STRETCHES]: 'Damaged frames that are found' },
  arms: [
    { name: 'videossr', description: 'as published: smooth scores' },
    { name: 'strict', reward: 'strict', description: 'paid where an answer is exact' },
    {
      name: 'one puzzle',
      variant: 'stretch-only',
      seedCount: 4,
      description: 'puzzles are all about damaged frames',
    },
    {
      name: 'other pictures',
      variant: 'other-pictures',
      seedCount: 4,
      description: 'control: the frames of another puzzle are shown',
    },
    coinArm('a fair coin pays an answer'),
    formatArm('any well-formed answer is paid'),
  ],
  conditions: [
    rises('videossr', LEAST, FALLS),
    endsAbove('videossr', 'strict', LEAST, STRETCHES),
    {
      description: 'share of groups that teach nothing, last five rounds, strict above videossr',
      measure: (r, s) => lately(r, 'strict', s, 'deadGroups') - lately(r, 'videossr', s, 'deadGroups'),
      atLeast: 0.05,
    },
    doesNotRise('other pictures', LEAST, FALLS),
    doesNotRise('random', LEAST, FALLS),
  ],
  observations: [
    seesMore('videossr', LEAST),
    rises('videossr', LEAST, STRETCHES),
    endsAbove('videossr', 'one puzzle', LEAST, FALLS),
    endsAbove('videossr', 'format', LEAST, FALLS),
  ],
};
