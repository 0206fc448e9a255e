/** The claim of SPINE: trained on its forks alone, a policy gains more from its own majority than with TTRL, and keeps its entropy. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, endsAbove, formatArm, neverRises, POINTS, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

/** By how much a monitor of one arm is above that of another, over the last five rounds. */
const above =
  (arm: string, other: string, figure: string): Measure =>
  (r, s) =>
    lately(r, arm, s, figure) - lately(r, other, s, figure);

export const claim: Claim = {
  description:
    'Trained at its forks alone, with a band for their entropy, a policy that learns from its own majority answers better than one that is trained on all tokens, writes answers no shorter, and stays less certain. A random fifth of the tokens does not do the same.',
  rounds: 24,
  evaluateEvery: 8,
  arms: [
    { name: 'spine', description: 'as published' },
    { name: 'all tokens', variant: 'all-tokens', description: 'TTRL: every token is trained' },
    { name: 'no band', variant: 'no-band', description: 'forks alone are trained, without the band' },
    {
      name: 'random fifth',
      variant: 'random-fifth',
      description: 'as many tokens are trained, drawn at random',
    },
    coinArm('a fair coin pays answers'),
    formatArm('any well-formed answer is paid'),
  ],
  conditions: [
    endsAbove('spine', 'all tokens'),
    endsAbove('spine', 'random fifth'),
    {
      description: 'tokens of an answer, last five rounds, spine above all tokens',
      measure: above('spine', 'all tokens', 'length'),
      atLeast: 0.5,
    },
    {
      description: 'entropy a token in nats, last five rounds, spine above all tokens',
      measure: above('spine', 'all tokens', 'entropy'),
      atLeast: 0.02,
    },
    {
      description: 'entropy of forks in nats, last five rounds, spine above no band',
      measure: above('spine', 'no band', 'forkEntropy'),
      atLeast: 0.02,
    },
    rises('spine', POINTS),
    neverRises('random', POINTS),
    neverRises('format', POINTS),
  ],
  observations: [endsAbove('spine', 'no band')],
  diagnosis:
    'Which tokens are trained makes less difference than which seed is played. Training the forks alone ends 0.9 points of sampled accuracy below training all tokens (6.9 below to 5.1 above) and 4.5 above training a random fifth (0.0 to 9.0): a fifth of the tokens is nearly enough where it is the right one. The policy stays a little less certain, by 0.021 nats a token (0.011 to 0.031), which the forks do and not the band: with it their entropy is 0.010 nats lower than without it. Its answers are half a token shorter, where they ought not to be shorter. All arms learn from their own majority, and lose skill by it: with steps forced 89 % of the answers were right at the start, and 61 % are at the end, since greedy answers without steps are what the majority rewards. Answers here have a dozen tokens, of which two or three are forks; whether forks matter more in a thousand tokens cannot be seen at this size.',
};
