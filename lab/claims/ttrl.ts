/** The claim of TTRL: a majority is a useful teacher although some of its labels are wrong, until the policy only reproduces it. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, formatArm, neverRises } from '../rule/conditions.ts';
import { curveOf, early, highest, lately, lost } from '../rule/curves.ts';

/** The last rounds, which are averaged. */
const LAST = 6;
/** The change of a monitor of the arm ttrl from the first three rounds to the last six. */
const changed =
  (figure: string): Measure =>
  (r, s) =>
    lately(r, 'ttrl', s, figure, LAST) - early(r, 'ttrl', s, figure);
/** A figure of the arm ttrl at the evaluation at which it is best. */
const atBest =
  (figure: string): Measure =>
  (r, s) => {
    const accuracy = curveOf(r, 'ttrl', s);
    return curveOf(r, 'ttrl', s, figure)[accuracy.indexOf(Math.max(...accuracy))]!;
  };

/** How much better one greedy answer is, at the arm's best evaluation, than the start policy's majority. */
const aboveVote =
  (arm: string): Measure =>
  (r, s) =>
    Math.max(...curveOf(r, arm, s)) - curveOf(r, arm, s, 'vote')[0]!;

export const claim: Claim = {
  description:
    'Trained on the test tasks with its own majority as the label, a policy comes to answer better at once than its majority of 64 votes did before, and nearly as well as with true labels. Wrong labels do little harm at first, because they still pay other wrong answers nothing. Trained on, the policy collapses: labels become wrong that were right.',
  rounds: 28,
  evaluateEvery: 4,
  pictures: {
    accuracy: 'Greedy accuracy on the test tasks',
    sampled: 'Sampled accuracy on the test tasks',
    learned: 'Test tasks learned',
    corrupted: 'Test tasks corrupted',
  },
  arms: [
    { name: 'ttrl', description: 'the majority’s answer is paid' },
    { name: 'gold', reward: 'gold', description: 'upper bound: the true labels of the test tasks' },
    coinArm('a fair coin'),
    formatArm('any well-formed answer'),
  ],
  conditions: [
    {
      description:
        'share of rewards that true labels would pay too, above the share of labels that are exact, first three rounds',
      measure: (r, s) => early(r, 'ttrl', s, 'rewardAccuracy') - early(r, 'ttrl', s, 'labelAccuracy'),
      atLeast: 0.05,
    },
    {
      description: 'ttrl: one greedy answer, at its best, above the start’s majority of 64 votes',
      measure: aboveVote('ttrl'),
      atLeast: 0.02,
    },
    {
      description: 'rise of greedy accuracy at its best, ttrl no lower than gold by more than 0.07',
      measure: (r, s) => highest(r, 'ttrl', s) - highest(r, 'gold', s),
      atLeast: -0.07,
    },
    {
      description: 'share of labels that are exact, last six rounds less first three',
      measure: changed('labelAccuracy'),
      atMost: -0.05,
    },
    {
      description: 'greedy accuracy lost from the best to the end, ttrl above gold',
      measure: (r, s) => lost(r, 'ttrl', s) - lost(r, 'gold', s),
      atLeast: 0.05,
    },
    ...['random', 'format'].map((arm) => ({
      description: `${arm}: one greedy answer, at its best, above the start’s majority of 64 votes`,
      measure: aboveVote(arm),
      atMost: 0.02,
      control: true,
    })),
    neverRises('random', 0.05),
    neverRises('format', 0.05),
  ],
  observations: [
    {
      description: 'share of rewards that true labels would pay too, last six rounds less first three',
      measure: changed('rewardAccuracy'),
      atMost: -0.1,
    },
    {
      description: 'ttrl: greedy accuracy rises, at its best',
      measure: (r, s) => highest(r, 'ttrl', s),
      atLeast: 0.2,
    },
    {
      description: 'ttrl, at its best: share of tasks learned less twice the share corrupted',
      measure: (r, s) => atBest('learned')(r, s) - 2 * atBest('corrupted')(r, s),
      atLeast: 0.1,
    },
  ],
  diagnosis:
    'Eight of nine conditions hold, and the ninth is within noise: at its best the policy is 6.1 points (3.3 to 8.9) below true labels, where 7 were allowed. One greedy answer comes to be 7 points better than the start’s majority of 64 votes (4.8 to 9.7), on each of eight seeds, and this within four rounds: greedy accuracy goes from 43 to 84 %, with true labels to 86 %. In the first rounds a reward is right 8 points more often than the label that it comes from, since a wrong label still pays most wrong answers nothing. Then the labels decay, by 19 points to the last rounds (12 to 26), and the policy with them: it ends at 58 %, where true labels keep 87. All of the gain is a choice: the start writes its steps in three answers of ten, and with steps forced it is right 89 times in 100, more than anything that it comes to.',
};
