/** TTRL's claim: a majority is a teacher, wrong labels included, and its pupil ends above it. */
import { type ArmResults, atEnd, type Claim, curveOf, highest, monitorOf, rise } from '../../core/claims.ts';
import { mean } from '../../core/rl/statistics.ts';

/** Mean of a figure over the first three rounds. */
const early = (r: ArmResults, s: number, figure: string) => mean(monitorOf(r, 'ttrl', s, figure).slice(0, 3));
const end = (figure: string) => (r: ArmResults, s: number) => atEnd(r, 'ttrl', s, figure);

export const claim: Claim = {
  says: 'Trained on the test tasks with its own majority for a label, a policy rises nearly as far as with the true labels, above the majority vote that it began with; wrong labels do little harm, because they still pay other wrong answers nothing.',
  seeds: [0, 1, 2],
  rounds: 15,
  evaluateEvery: 5,
  arms: [
    { name: 'ttrl', says: 'the majority’s answer is paid' },
    { name: 'gold', reward: 'gold', says: 'upper bound: the test tasks’ true labels' },
    { name: 'random', reward: 'random', says: 'control: a fair coin' },
    { name: 'format', reward: 'format', says: 'control: any well-formed answer' },
  ],
  conditions: [
    { says: 'ttrl: greedy accuracy rises', measure: (r, s) => rise(r, 'ttrl', s), atLeast: 0.15 },
    {
      says: 'rewards that gold would pay too, above labels that are exact, first three rounds',
      measure: (r, s) => early(r, s, 'rewardAccuracy') - early(r, s, 'labelAccuracy'),
      atLeast: 0.05,
    },
    {
      says: 'ttrl: one greedy answer at the end, above the start’s majority vote',
      measure: (r, s) => atEnd(r, 'ttrl', s) - curveOf(r, 'ttrl', s, 'vote')[0]!,
      atLeast: 0,
    },
    {
      says: 'greedy accuracy at the end, ttrl against gold',
      measure: (r, s) => atEnd(r, 'ttrl', s) - atEnd(r, 'gold', s),
      atLeast: -0.07,
    },
    {
      says: 'ttrl: tasks learned less five times tasks corrupted, share',
      measure: (r, s) => end('learned')(r, s) - 5 * end('corrupted')(r, s),
      atLeast: 0,
    },
    { says: 'random: greedy accuracy never rises', measure: (r, s) => highest(r, 'random', s), atMost: 0.05 },
    { says: 'format: greedy accuracy never rises', measure: (r, s) => highest(r, 'format', s), atMost: 0.05 },
  ],
};
