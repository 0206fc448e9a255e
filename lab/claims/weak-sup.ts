/** The claim of the weak-supervision study: under weak labels answers with steps generalise, and answers without do not. */
import type { Arm, Claim, Condition } from '../rule/claim.ts';
import { coinArm, doesNotRise, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { rise } from '../rule/curves.ts';

const LABELS = {
  few: 'eight exact labels',
  noisy: '64 labels, two in five of them wrong',
  majority: 'the majority of one’s own answers to 64 tasks',
} as const;
type Labels = keyof typeof LABELS;
const KINDS = Object.keys(LABELS) as Labels[];

const arms = KINDS.flatMap((labels): Arm[] => [
  { name: `traces ${labels}`, reward: labels, description: `answers with steps, ${LABELS[labels]}` },
  {
    name: `answers ${labels}`,
    reward: labels,
    variant: 'answers',
    description: `answers without steps, ${LABELS[labels]}`,
  },
]);

const risesMore = (labels: Labels): Condition => ({
  description: `sampled accuracy, traces rise more than answers, labels ${labels}`,
  measure: (results, seed) =>
    rise(results, `traces ${labels}`, seed, 'sampled') - rise(results, `answers ${labels}`, seed, 'sampled'),
  atLeast: POINTS,
});

export const claim: Claim = {
  description:
    'Trained on few labels, on labels of which two in five are wrong, and on the majority of its own answers, a policy that answers with its steps comes to answer more held-out tasks, and gains more of them than one that answers without steps.',
  rounds: 16,
  evaluateEvery: 8,
  arms: [
    ...arms,
    {
      name: 'traces exact',
      reward: 'exact',
      seedCount: 4,
      description: 'reference: answers with steps, exact labels of fresh tasks',
    },
    coinArm('a coin says what is right'),
    formatArm('any well-formed answer is worth as much as another'),
  ],
  conditions: [
    ...KINDS.map((labels) => rises(`traces ${labels}`, POINTS)),
    ...KINDS.map(risesMore),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  observations: KINDS.map((labels) => ({
    description: `answers ${labels}: sampled accuracy falls`,
    measure: (results, seed) => rise(results, `answers ${labels}`, seed, 'sampled'),
    atMost: -0.03,
  })),
  columns: {
    meaning:
      'Every answer begins with a token that forces its form, so that greedy accuracy is that with steps forced in the arms with traces, and that without steps in the others.',
  },
  diagnosis:
    'The order is the paper’s and the sizes are below the bounds, so that the claim is not shown. With steps sampled accuracy rises under each of the weak labels, by 3.0 to 3.9 points, all intervals above 0 and none wholly above 5; without steps it changes by −1.2, +0.8 and −3.8. Where the two forms differ most, under the majority, the difference is 7.7 points (4.7 to 10.8). Exact labels of fresh tasks give 10.3 points in as many rounds. What rises is sharpening alone: greedy accuracy falls by 13 to 14 points with steps and by 9 to 15 without, as it does under the coin and under the format, and stays only where exact labels are fresh. The reward on eight tasks reaches 0.9 three rounds earlier without steps than with them, round 12 and round 15, as the paper’s saturation would have it; those of noisy labels and of the majority were still rising at the end. But these answers are hardly faithful in either form: in three of ten cases the answer follows from steps with an error, before training and after.',
};
