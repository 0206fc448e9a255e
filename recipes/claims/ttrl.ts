/** TTRL's claim: a majority is a teacher, wrong labels included, until it only teaches itself. */
import { type ArmResults, type Claim, curveOf, highest, lost, monitorOf } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';

/** Mean of a figure over the first three rounds, in which a policy is still what it was, and over the last six. */
const early = (r: ArmResults, s: number, figure: string) => mean(monitorOf(r, 'ttrl', s, figure).slice(0, 3));
const late = (r: ArmResults, s: number, figure: string) => mean(monitorOf(r, 'ttrl', s, figure).slice(-6));
/** A figure of the arm ttrl at the evaluation at which it is best. */
const atBest = (r: ArmResults, s: number, figure: string) => {
  const accuracy = curveOf(r, 'ttrl', s);
  return curveOf(r, 'ttrl', s, figure)[accuracy.indexOf(Math.max(...accuracy))]!;
};

/** One greedy answer, at the arm's best, above the start's majority. */
const aboveVote = (r: ArmResults, arm: string, s: number) =>
  Math.max(...curveOf(r, arm, s)) - curveOf(r, arm, s, 'vote')[0]!;

export const claim: Claim = {
  says: 'Trained on the test tasks with its own majority for a label, a policy comes to answer at once better than its majority of 64 votes did before; wrong labels do little harm at first, because they still pay other wrong answers nothing. Trained on, it collapses: labels become wrong that were right.',
  seeds: [9, 10, 11],
  rounds: 28,
  evaluateEvery: 4,
  pictures: {
    accuracy: 'Greedy accuracy on the test tasks',
    sampled: 'Sampled accuracy on the test tasks',
    learned: 'Test tasks learned',
    corrupted: 'Test tasks corrupted',
  },
  arms: [
    { name: 'ttrl', says: 'the majority’s answer is paid' },
    { name: 'gold', reward: 'gold', says: 'upper bound: the test tasks’ true labels' },
    { name: 'random', reward: 'random', says: 'control: a fair coin' },
  ],
  conditions: [
    {
      says: 'rewards that gold would pay too, above labels that are exact, first three rounds',
      measure: (r, s) => early(r, s, 'rewardAccuracy') - early(r, s, 'labelAccuracy'),
      atLeast: 0.05,
    },
    {
      says: 'ttrl: one greedy answer, at its best, above the start’s majority of 64 votes',
      measure: (r, s) => aboveVote(r, 'ttrl', s),
      atLeast: 0,
    },
    {
      says: 'labels that are exact, last six rounds less first three: they fall',
      measure: (r, s) => late(r, s, 'labelAccuracy') - early(r, s, 'labelAccuracy'),
      atMost: 0,
    },
    {
      says: 'greedy accuracy lost by the end, ttrl above gold: collapse',
      measure: (r, s) => lost(r, 'ttrl', s) - lost(r, 'gold', s),
      atLeast: 0.05,
    },
    {
      says: 'random: one greedy answer, at its best, above the start’s majority of 64 votes: never',
      measure: (r, s) => aboveVote(r, 'random', s),
      atMost: 0,
    },
  ],
  observations: [
    {
      says: 'rewards that gold would pay too, last six rounds less first three',
      measure: (r, s) => late(r, s, 'rewardAccuracy') - early(r, s, 'rewardAccuracy'),
      atMost: -0.1,
    },
    {
      says: 'random: sampled accuracy never rises',
      measure: (r, s) => highest(r, 'random', s, 'sampled'),
      atMost: 0.05,
    },
    {
      says: 'ttrl: greedy accuracy rises, at its best',
      measure: (r, s) => highest(r, 'ttrl', s),
      atLeast: 0.2,
    },
    {
      says: 'ttrl, at its best: tasks learned less twice the tasks corrupted, share',
      measure: (r, s) => atBest(r, s, 'learned') - 2 * atBest(r, s, 'corrupted'),
      atLeast: 0,
    },
    {
      says: 'greedy accuracy at its best, ttrl against gold',
      measure: (r, s) => highest(r, 'ttrl', s) - highest(r, 'gold', s),
      atLeast: -0.07,
    },
  ],
  diagnosis:
    'All of it but one thing. In the first rounds rewards are right for .77 of the votes where labels are right for .55 of the tasks; at its best the policy has learned three to five tasks for each that it unlearned; then it collapses: labels go from .55 to .44 and greedy accuracy from .55 at its best to .40, while true labels carry it to .76 and it stays there. What fails, by two points in the mean (-7, -4 and +5), is that one answer becomes better than the start’s majority of 64. The start’s majority already listens to the half of its voters that writes steps, and on these tasks it is as good (.57) as the start when made to write them (.56); what training could add beyond is sharpness, and wrong labels, near half of all here, take it away again. On the pilot’s tasks, whose majority is weaker against its steps (.54 to .62), one answer beat it by 1 to 5 points at every setting. Chance alone flips a policy from terse to worked now and then, which lifts greedy accuracy without any skill; therefore the random arm is judged by sampled accuracy. Revised after a first run with seeds 0 to 2: test tasks of four and five operators, where labels are often wrong, steps twice as large, KL 0.03, 64 votes for the yardstick, and what the published contract does not ask was moved beside the claim.',
};
