/** The claim of SPIRAL: a policy that plays against itself becomes hard to exploit, where one that meets a fixed opponent learns to beat that one. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, difference, rises } from '../rule/conditions.ts';
import { atEnd, curveOf, rise } from '../rule/curves.ts';

const EXPLOITABILITY = 'exploitability';
/** A quarter of what the start loses to perfect opponents, in antes. */
const LEAST = 0.05;

const falls =
  (arm: string): Measure =>
  (r, s) =>
    -rise(r, arm, s, EXPLOITABILITY);

export const claim: Claim = {
  description:
    'A policy that plays Kuhn poker and tic-tac-toe against itself comes to lose less to perfect opponents in poker than one that plays its start, at equal sampled tokens.',
  rounds: 40,
  tokens: 60_000,
  tasks: 12,
  evaluateEvery: 40,
  pictures: {
    [EXPLOITABILITY]: 'What perfect opponents win in Kuhn poker, in antes',
    accuracy: 'Mean score against version 0 in held-out games',
  },
  arms: [
    { name: 'spiral', description: 'as published: self-play, a running baseline for each game and seat' },
    {
      name: 'fixed opponent',
      variant: 'fixed-opponent',
      description: 'the other seat is played by version 0',
    },
    {
      name: 'no baseline',
      variant: 'no-rae',
      seedCount: 4,
      description: 'self-play; the return itself is the advantage',
    },
    coinArm('a fair coin pays each seat'),
  ],
  conditions: [
    {
      description: 'exploitability in Kuhn poker at the end, spiral below fixed opponent',
      measure: difference('fixed opponent', 'spiral', EXPLOITABILITY),
      atLeast: LEAST,
    },
    {
      description: 'spiral: exploitability in Kuhn poker falls',
      measure: falls('spiral'),
      atLeast: LEAST,
    },
    {
      description: 'random: exploitability in Kuhn poker does not fall',
      measure: falls('random'),
      atMost: 0.03,
      control: true,
    },
  ],
  observations: [
    {
      description: 'spiral: exploitability in Kuhn poker at the end, as a share of the start’s',
      measure: (r, s) => atEnd(r, 'spiral', s, EXPLOITABILITY) / curveOf(r, 'spiral', s, EXPLOITABILITY)[0]!,
      atMost: 0.1,
    },
    {
      description: 'exploitability in Kuhn poker at the end, spiral below no baseline',
      measure: difference('no baseline', 'spiral', EXPLOITABILITY),
      atLeast: 0.02,
    },
    rises('spiral', 0.05, 'accuracy'),
    rises('fixed opponent', 0.05, 'accuracy'),
    {
      description: 'score against version 0 at the end, fixed opponent above spiral',
      measure: difference('fixed opponent', 'spiral', 'accuracy'),
      atLeast: 0.05,
    },
  ],
};
