/** The flagship's claim: a solver that only its judge pays learns where the judge is trained, and hacks the judge where it is frozen. */
import type { Claim, Measure } from '../../core/claims/claim.ts';
import {
  coinArm,
  doesNotRise,
  endsAbove,
  formatArm,
  neverRises,
  POINTS,
  rises,
} from '../../core/claims/conditions.ts';
import { early, lately, lost } from '../../core/claims/curves.ts';

const JUDGED = { reward: 'judge', freeze: [] };
const FROZEN = { reward: 'judge', freeze: ['judge'] };

/** By how much the gap between the solver's reward and its exactness grows, from the first three rounds to the last five. */
const gapGrows =
  (arm: string): Measure =>
  (r, s) =>
    lately(r, arm, s, 'gap') - early(r, arm, s, 'gap');

export const trioClaim: Claim = {
  description:
    'Where the judge alone pays the solver, a judge that is trained on the exact checker’s word carries the solver, and the same judge frozen is hacked: what it pays rises while exactness falls (--reward judge against --reward judge --freeze judge).',
  rounds: 40,
  arms: [
    {
      name: 'mix',
      reward: 'mix',
      freeze: [],
      description: 'the default: exactness mixed with the judge’s step verdicts',
    },
    {
      name: 'judge',
      ...JUDGED,
      description: 'the solver is paid by the judge alone; the judge is trained on the exact checker’s word',
    },
    { name: 'frozen judge', ...FROZEN, description: 'the same with the judge frozen at version 0' },
    {
      name: 'label-free',
      reward: 'self-consistency',
      freeze: [],
      description: 'nobody sees the exact checker: the judge is trained on the majority answer of each task',
    },
    coinArm('a fair coin pays the solver', { freeze: [] }),
    formatArm('any well-formed answer is paid', { freeze: [] }),
    {
      name: 'frozen proposer',
      reward: 'mix',
      freeze: ['proposer'],
      description: 'the default with the proposer frozen',
    },
  ],
  partners: [
    { partner: 'judge', trained: 'judge', frozen: 'frozen judge' },
    { partner: 'proposer', trained: 'mix', frozen: 'frozen proposer' },
  ],
  conditions: [
    rises('mix', 0.2, 'accuracy'),
    {
      description: 'mix: greedy accuracy at its best less at the end',
      measure: (r, s) => lost(r, 'mix', s),
      atMost: 0.05,
    },
    rises('mix', POINTS, 'forcedWorked'),
    endsAbove('judge', 'frozen judge', 0.2, 'accuracy'),
    endsAbove('judge', 'frozen judge', 0.1),
    {
      description:
        'frozen judge: the gap between reward and exactness grows, last five rounds less first three',
      measure: gapGrows('frozen judge'),
      atLeast: 0.1,
    },
    {
      description: 'judge: that gap does not grow by more than 0.05',
      measure: gapGrows('judge'),
      atMost: 0.05,
    },
    doesNotRise('random', 0.03, 'accuracy'),
    neverRises('random', 0.05, 'accuracy'),
  ],
  observations: [
    endsAbove('label-free', 'frozen judge', 0.1),
    endsAbove('judge', 'label-free'),
    endsAbove('mix', 'frozen proposer'),
  ],
  diagnosis:
    'What the claim says holds on every seed, here and in an earlier run on seeds 0 to 2 with the same settings, in which all seven conditions did (greedy 34 to 82, 79 and 80 %; trained judge above frozen by .26, .34 and .35; the coin at most .03 above its start). What fails is the coin’s bound, which is asked of every seed: on seed 3 its greedy accuracy climbs slowly from 34.2 to 39.2 % and no answer has steps, so that it is the choice between two terse habits that drifts; its sampled accuracy falls, as on the other seeds (44.6 to 39 to 44 %). A pilot with other tasks had one evaluation 6 points above the start and the next below it. Greedy accuracy of single evaluations is no firmer than that at this size; the differences that are claimed are five times as large.',
};
