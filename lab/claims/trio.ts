/**
 * The claim of the flagship: a solver that is paid by its judge alone learns where the judge is trained, and exploits the judge where it is frozen.
 */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, neverRises, POINTS, rises } from '../rule/conditions.ts';
import { early, lately, lost } from '../rule/curves.ts';

const JUDGED = { reward: 'judge', freeze: [] };
const FROZEN = { reward: 'judge', freeze: ['judge'] };

/** By how much the gap between the solver's reward and its exactness grows, from the first three rounds to the last five. */
const gapGrows =
  (arm: string): Measure =>
  (r, s) =>
    lately(r, arm, s, 'gap') - early(r, arm, s, 'gap');

export const claim: Claim = {
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
    'A trained judge carries the solver where a frozen one does not, on each of eight seeds: paid by the judge alone, the solver ends at 72.0 % greedy with the trained judge and at 39.1 % with the frozen one, from 34.2 %. Most of this is one choice, to write the steps: after training, 99.9 % of the greedy answers show their steps, and none do with the frozen judge. With steps forced, accuracy is 73.0 % at the start and 72.0 % at the end with the reward judge; only the reward mix raises it, to 81.2 %. The frozen judge is hacked: what it pays rises from 0.55 to 0.61 while its gap to exactness grows from 0.04 to 0.22. In the arm judge only the judge sees the exact checker’s verdicts, on the very solutions that it scores, and the judge pays the solver. It does not need to: the arm label-free trains the judge on majority answers and ends 4 points of sampled accuracy above the arm judge, with a ninth more tokens and a gap of 0.06 that does not grow. Training the proposer buys nothing: sampled accuracy is 1.4 points lower than with the proposer frozen, and skill is the same within noise. The two conditions of the coin are within noise because it has four seeds, and its greedy accuracy drifts by up to 5 points. Form alone, an arm in no condition, ends at 33.2 % greedy, from 34.2 (30.0 to 37.2 on four seeds).',
};
