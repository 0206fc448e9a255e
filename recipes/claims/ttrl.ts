/**
 * TTRL's claim: a majority is a teacher, wrong labels included, until it only teaches itself. Bounds were set after pilot runs with
 * other seeds on the same held-out tasks.
 */
import { type ArmResults, type Claim, curveOf, highest, lost, monitorOf } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';

type Measure = (results: ArmResults, seed: number) => number;

/** Mean of a figure over the first and over the last three rounds. */
const early = (r: ArmResults, s: number, figure: string) => mean(monitorOf(r, 'ttrl', s, figure).slice(0, 3));
const late = (r: ArmResults, s: number, figure: string) => mean(monitorOf(r, 'ttrl', s, figure).slice(-3));
/** A figure at the evaluation at which an arm is best. */
const atBest =
  (figure: string): Measure =>
  (r, s) => {
    const accuracy = curveOf(r, 'ttrl', s);
    return curveOf(r, 'ttrl', s, figure)[accuracy.indexOf(Math.max(...accuracy))]!;
  };

export const claim: Claim = {
  says: 'Trained on the test tasks with its own majority for a label, a policy rises nearly as far as with the true labels, to the level of the majority vote that it began with; wrong labels do little harm at first, because they still pay other wrong answers nothing. Trained on, it collapses: labels grow unanimous and wrong.',
  seeds: [0, 1, 2],
  rounds: 20,
  evaluateEvery: 5,
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
    { name: 'format', reward: 'format', says: 'control: any well-formed answer' },
  ],
  conditions: [
    {
      says: 'ttrl: greedy accuracy rises, at its best',
      measure: (r, s) => highest(r, 'ttrl', s),
      atLeast: 0.25,
    },
    {
      says: 'rewards that gold would pay too, above labels that are exact, first three rounds',
      measure: (r, s) => early(r, s, 'rewardAccuracy') - early(r, s, 'labelAccuracy'),
      atLeast: 0.05,
    },
    {
      says: 'ttrl: one greedy answer, at its best, above the start’s majority vote',
      measure: (r, s) => Math.max(...curveOf(r, 'ttrl', s)) - curveOf(r, 'ttrl', s, 'vote')[0]!,
      atLeast: 0,
    },
    {
      says: 'greedy accuracy at its best, ttrl against gold',
      measure: (r, s) => highest(r, 'ttrl', s) - highest(r, 'gold', s),
      atLeast: -0.07,
    },
    {
      says: 'ttrl, at its best: tasks learned less four times tasks corrupted, share',
      measure: (r, s) => atBest('learned')(r, s) - 4 * atBest('corrupted')(r, s),
      atLeast: 0,
    },
    {
      says: 'labels that are exact, last three rounds less first three: collapse',
      measure: (r, s) => late(r, s, 'labelAccuracy') - early(r, s, 'labelAccuracy'),
      atMost: -0.1,
    },
    {
      says: 'greedy accuracy lost by the end, ttrl above gold: collapse',
      measure: (r, s) => lost(r, 'ttrl', s) - lost(r, 'gold', s),
      atLeast: 0.03,
    },
    { says: 'random: greedy accuracy never rises', measure: (r, s) => highest(r, 'random', s), atMost: 0.05 },
    { says: 'format: greedy accuracy never rises', measure: (r, s) => highest(r, 'format', s), atMost: 0.05 },
  ],
  diagnosis:
    'The mechanism is there: in the first rounds rewards are right for .87 of the votes where labels are for .73 of the tasks, six times as many tasks are learned as corrupted, and controls do not rise. What is learned is to write steps and to agree with oneself (the majority’s share goes from under a half to three quarters, sampled accuracy from .45 to .57); labels do not get better while the policy does, so that one greedy answer ends a little below the vote of the start, which already listens to the half of its voters who write steps. True labels reach .86, because two hundred tasks can be learned by heart. The collapse of long runs was seen in a pilot (labels .75 to .38 within 20 rounds) and not with these seeds. Step size, sizes and bounds were chosen after pilot runs with other seeds on the same held-out tasks: levels of accuracy are to that extent fitted, comparisons between arms less so.',
};
