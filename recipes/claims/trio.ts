/** The flagship's claim: a trained judge carries a solver that never sees gold, and a frozen one is hacked. Asked of every seed. */
import { atEnd, type Claim, highest, lost, rise } from '../../core/claims.ts';

const JUDGED = { reward: 'judge', freeze: [] };
const FROZEN = { reward: 'judge', freeze: ['judge'] };

export const trioClaim: Claim = {
  says: 'Where the solver never sees gold, a judge that is trained carries it; the same judge frozen is hacked (--reward judge against --reward judge --freeze judge).',
  seeds: [3, 4, 5],
  rounds: 40,
  arms: [
    {
      name: 'mix',
      reward: 'mix',
      freeze: [],
      says: 'the default: gold mixed with the judge’s step verdicts',
    },
    { name: 'judge', ...JUDGED, says: 'the solver is paid by the judge alone; the judge is trained' },
    { name: 'frozen judge', ...FROZEN, says: 'the same with the judge frozen at version 0' },
    { name: 'random', reward: 'random', freeze: [], says: 'control: a fair coin pays the solver' },
    { name: 'format', reward: 'format', freeze: [], says: 'control: any well-formed answer is paid' },
    {
      name: 'frozen proposer',
      reward: 'mix',
      freeze: ['proposer'],
      says: 'the default with the proposer frozen',
    },
  ],
  conditions: [
    {
      says: 'mix: greedy accuracy rises',
      measure: (r, s) => rise(r, 'mix', s, 'accuracy'),
      atLeast: 0.2,
      everySeed: true,
    },
    {
      says: 'mix: greedy accuracy at the end is near its best',
      measure: (r, s) => lost(r, 'mix', s),
      atMost: 0.05,
      everySeed: true,
    },
    {
      says: 'mix: accuracy with steps forced rises',
      measure: (r, s) => rise(r, 'mix', s, 'forcedWorked'),
      atLeast: 0.05,
      everySeed: true,
    },
    {
      says: 'random: greedy accuracy at the end has not risen',
      measure: (r, s) => rise(r, 'random', s, 'accuracy'),
      atMost: 0.03,
      everySeed: true,
    },
    {
      says: 'random: greedy accuracy never rises',
      measure: (r, s) => highest(r, 'random', s),
      atMost: 0.03,
      everySeed: true,
    },
    {
      says: 'judge against frozen judge, greedy at the end',
      measure: (r, s) => atEnd(r, 'judge', s, 'accuracy') - atEnd(r, 'frozen judge', s, 'accuracy'),
      atLeast: 0.2,
      everySeed: true,
    },
    {
      says: 'judge against frozen judge, sampled at the end',
      measure: (r, s) => atEnd(r, 'judge', s, 'sampled') - atEnd(r, 'frozen judge', s, 'sampled'),
      atLeast: 0.1,
      everySeed: true,
    },
  ],
};
