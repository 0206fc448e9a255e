/**
 * my-run: a solver alone, paid for exact answers that are short.
 *
 *   reward      1 for an exact answer, less 0.01 a token
 *   advantage   r - median of the group (an estimator of our own)
 *   loss        ratio clipped to [1 - 0.2, 1 + 0.28], mean over all tokens of the step
 */
import {
  type AnswerReward,
  defineRecipe,
  exactReward,
  formatReward,
  groupItems,
  type Key,
  type Maybe,
  mapGroups,
  solverAlone,
  solverUpdate,
  trainedSolver,
} from 'rollmesh';
import { tasks } from './tasks.ts';

const exactAndShort: AnswerReward = {
  description: '1 for an exact answer, less 0.01 a token',
  usesGold: true,
  pay: (evidence) =>
    exactReward.pay(evidence).map((exact, i) => Number(exact) - 0.01 * evidence.group.samples[i]!.ids.length),
};

/** r - median of the group: rewards [samples] and the group of each -> advantages [samples]; a missing reward has none. */
const medianCentred = (rewards: Maybe[], groups: Key[]): Maybe[] =>
  mapGroups(rewards, groups, (present) => {
    const median = [...present].sort((a, b) => a - b)[Math.floor(present.length / 2)]!;
    return present.map((reward) => reward - median);
  });

export default defineRecipe({
  name: 'my-run',
  title: 'Short exact answers',
  paper: { title: 'Our own', year: 2026 },
  summary: 'A solver answers chains of three operators and is paid for exact answers that are short.',
  method: {
    setting:
      'Chains of three operators; the start policy was taught arithmetic and writes its steps now and then.',
    roles: 'A solver answers each task eight times.',
    rewards: 'An exact answer earns 1, and every token costs 0.01.',
    credit: 'A reward less the median of its group is the advantage of the whole answer.',
    objective: 'The ratio is clipped to 0.8 and 1.28; the mean is over all tokens of the step.',
    schedule: 'One pass over the round in four steps.',
  },
  differences: [],
  startPolicy: 'arithmetic-base',
  writtenAs: 'arithmetic',
  tasks: 16,
  groupSize: 8,
  sets: trainedSolver(),
  ...solverAlone({
    family: tasks,
    rewards: { short: exactAndShort, exact: exactReward, format: formatReward },
  }),
  learn: ({ groups }) => ({
    updates: solverUpdate(groupItems(groups, medianCentred), {
      objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 },
      aggregation: { mode: 'token-mean' },
    }),
  }),
});
