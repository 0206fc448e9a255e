/** The flagship's claim: a trained judge carries a solver that never sees gold, and a frozen one is hacked. Asked of every seed. */
import { atEnd, type Claim, highest, lost, rise } from '../../core/claim.ts';

const JUDGED = { reward: 'judge', freeze: [] };
const FROZEN = { reward: 'judge', freeze: ['judge'] };

export const trioClaim: Claim = {
  description:
    'Where the solver never sees gold, a judge that is trained carries it; the same judge frozen is hacked (--reward judge against --reward judge --freeze judge).',
  seeds: [3, 4, 5],
  rounds: 40,
  arms: [
    {
      name: 'mix',
      reward: 'mix',
      freeze: [],
      description: 'the default: gold mixed with the judge’s step verdicts',
    },
    { name: 'judge', ...JUDGED, description: 'the solver is paid by the judge alone; the judge is trained' },
    { name: 'frozen judge', ...FROZEN, description: 'the same with the judge frozen at version 0' },
    { name: 'random', reward: 'random', freeze: [], description: 'control: a fair coin pays the solver' },
    { name: 'format', reward: 'format', freeze: [], description: 'control: any well-formed answer is paid' },
    {
      name: 'frozen proposer',
      reward: 'mix',
      freeze: ['proposer'],
      description: 'the default with the proposer frozen',
    },
  ],
  conditions: [
    {
      description: 'mix: greedy accuracy rises',
      measure: (r, s) => rise(r, 'mix', s, 'accuracy'),
      atLeast: 0.2,
      everySeed: true,
    },
    {
      description: 'mix: greedy accuracy at the end is near its best',
      measure: (r, s) => lost(r, 'mix', s),
      atMost: 0.05,
      everySeed: true,
    },
    {
      description: 'mix: accuracy with steps forced rises',
      measure: (r, s) => rise(r, 'mix', s, 'forcedWorked'),
      atLeast: 0.05,
      everySeed: true,
    },
    {
      description: 'random: greedy accuracy at the end has not risen',
      measure: (r, s) => rise(r, 'random', s, 'accuracy'),
      atMost: 0.03,
      everySeed: true,
    },
    {
      description: 'random: greedy accuracy never rises',
      measure: (r, s) => highest(r, 'random', s),
      atMost: 0.03,
      everySeed: true,
    },
    {
      description: 'judge against frozen judge, greedy at the end',
      measure: (r, s) => atEnd(r, 'judge', s, 'accuracy') - atEnd(r, 'frozen judge', s, 'accuracy'),
      atLeast: 0.2,
      everySeed: true,
    },
    {
      description: 'judge against frozen judge, sampled at the end',
      measure: (r, s) => atEnd(r, 'judge', s, 'sampled') - atEnd(r, 'frozen judge', s, 'sampled'),
      atLeast: 0.1,
      everySeed: true,
    },
  ],
  diagnosis:
    'What the claim says holds on every seed, here and in an earlier run on seeds 0 to 2 with the same settings, in which all seven conditions did (greedy 34 to 82, 79 and 80 %; trained judge above frozen by .26, .34 and .35; the coin at most .03 above its start). What fails is the coin’s bound, which is asked of every seed: on seed 3 its greedy accuracy climbs slowly from 34.2 to 39.2 % and no answer has steps, so that it is the choice between two terse habits that drifts; its sampled accuracy falls, as on the other seeds (44.6 to 39 to 44 %). A pilot with other tasks had one evaluation 6 points above the start and the next below it. Greedy accuracy of single evaluations is no firmer than that at this size; the differences that are claimed are five times as large.',
};
