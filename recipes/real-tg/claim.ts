/** The claim of ReaL-TG: paid by F1 alone, a solver forecasts links of graphs that it has not seen, whatever their nodes are called. */
import type { Claim } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, formatArm, POINTS, rises } from '../../core/claims/conditions.ts';
import { atEnd, rise } from '../../core/claims/curves.ts';

export const claim: Claim = {
  description:
    'Paid by the F1 of the nodes it names and by nothing else, a solver gets better at forecasting links of graphs that it has not seen, and as good where nodes have names that no reward was paid on. What it writes before its answer, for which it is not paid, is truer to the graph and says more often why the nodes are named.',
  rounds: 12,
  evaluateEvery: 6,
  pictures: {
    f1: 'F1 on held-out graphs, greedy',
    renamedF1: 'F1 on the same graphs with other names, greedy',
    aligned: 'Share of sampled answers that name what their steps expect',
  },
  arms: [
    { name: 'real-tg', description: 'as published' },
    coinArm('a fair coin pays each answer'),
    formatArm('any well-formed answer is paid'),
  ],
  conditions: [
    rises('real-tg', 0.1, 'sampledF1'),
    rises('real-tg', POINTS, 'f1'),
    rises('real-tg', POINTS, 'renamedF1'),
    {
      description: 'real-tg: F1 with other names at the end, below F1 with the names that were trained on',
      measure: (r, s) => atEnd(r, 'real-tg', s, 'f1') - atEnd(r, 'real-tg', s, 'renamedF1'),
      atMost: 0.03,
    },
    {
      description: 'real-tg: share of steps that list the graph’s own times rises',
      measure: (r, s) => rise(r, 'real-tg', s, 'faithful'),
      atLeast: POINTS,
    },
    {
      description: 'real-tg: share of answers that name what their steps expect rises',
      measure: (r, s) => rise(r, 'real-tg', s, 'aligned'),
      atLeast: POINTS,
    },
    doesNotRise('random', undefined, 'sampledF1'),
    doesNotRise('format', undefined, 'sampledF1'),
  ],
};
