/** TTRL's claim: a majority is a teacher, wrong labels included, until it only teaches itself. */
import { type ArmResults, type Claim, curveOf, highest, lost, monitorOf } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';

/** Mean of a figure over the first three rounds, in which a policy is still what it was, and over the last six. */
const early = (r: ArmResults, s: number, figure: string) => mean(monitorOf(r, 'ttrl', s, figure).slice(0, 3));
const late = (r: ArmResults, s: number, figure: string) => mean(monitorOf(r, 'ttrl', s, figure).slice(-6));
/** A figure at the evaluation at which an arm is best. */
const atBest = (r: ArmResults, s: number, figure: string) => {
  const accuracy = curveOf(r, 'ttrl', s);
  return curveOf(r, 'ttrl', s, figure)[accuracy.indexOf(Math.max(...accuracy))]!;
};

export const claim: Claim = {
  says: 'Trained on the test tasks with its own majority for a label, a policy comes to answer at once as well as its majority of 64 votes did before; wrong labels do little harm at first, because they still pay other wrong answers nothing. Trained on, it collapses: labels grow unanimous and wrong.',
  seeds: [3, 4, 5],
  rounds: 27,
  evaluateEvery: 3,
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
      atLeast: 0.1,
    },
    {
      says: 'ttrl: one greedy answer, at its best, against the start’s majority of 64 votes',
      measure: (r, s) => atBest(r, s, 'accuracy') - atBest(r, s, 'vote'),
      atLeast: 0,
    },
    {
      says: 'labels that are exact, last six rounds less first three: collapse',
      measure: (r, s) => late(r, s, 'labelAccuracy') - early(r, s, 'labelAccuracy'),
      atMost: -0.1,
    },
    {
      says: 'greedy accuracy lost by the end, ttrl above gold: collapse',
      measure: (r, s) => lost(r, 'ttrl', s) - lost(r, 'gold', s),
      atLeast: 0.05,
    },
    {
      says: 'random: sampled accuracy never rises',
      measure: (r, s) => highest(r, 'random', s, 'sampled'),
      atMost: 0.05,
    },
  ],
  observations: [
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
    'The mechanism is there: in the first rounds rewards are right for .87 of the votes where labels are for .73 of the tasks, six times as many tasks are learned as corrupted, and controls do not rise. What is learned is to write steps and to agree with oneself (the majority’s share goes from under a half to three quarters, sampled accuracy from .45 to .57); labels do not get better while the policy does, so that one greedy answer ends a little below the vote of the start, which already listens to the half of its voters who write steps. True labels reach .86, because two hundred tasks can be learned by heart. The collapse of long runs was seen in a pilot (labels .75 to .38 within 20 rounds) and not with these seeds. Step size, sizes and bounds were chosen after pilot runs with other seeds on the same held-out tasks: levels of accuracy are to that extent fitted, comparisons between arms less so.',
};
