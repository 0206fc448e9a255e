/** The claim of SPIRAL: a policy that plays against itself becomes hard to exploit, where one that meets a fixed opponent learns to beat that one. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, difference, rises } from '../rule/conditions.ts';
import { atEnd, curveOf, rise } from '../rule/curves.ts';
import { IN_ZERO_SUM_GAMES } from '../rule/zero-sum.ts';

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
  ...IN_ZERO_SUM_GAMES,
  diagnosis:
    'Self-play ends in two ways. On four seeds of eight exploitability falls from 0.209 to 0.115 to 0.131 antes, and on the other four it rises to 0.317 to 0.337; the mean of 0.225 is the start’s. Against a fixed opponent it ends at 0.174 (0.154 to 0.194), lower on average and far less spread, so that no advantage of self-play is shown: it ends 0.051 antes above the fixed opponent (0.033 below to 0.135 above). One seed of an earlier exploration had ended at 0.088 and was of the first kind. Without a baseline one seed of four is low (0.123) and three are high (0.311 and more), 0.04 above the same four seeds with one, which says nothing. A tenth of the start’s exploitability is reached by no run. Against version 0 itself self-play gains 5.8 points of score (4.6 to 7.1), and whoever trains against version 0 alone gains no more (4.0, 2.3 to 5.6). A coin makes a policy easier to exploit (0.255). No training does as well as a lower temperature: version 0 at 0.25 loses 0.065 antes to perfect opponents, at 0.5 0.083 and at 0, where it never varies, 0.167. All seeds begin from one start.',
};
