/** The claim of ReaL-TG: paid by F1 alone, a solver forecasts links of graphs that it has not seen, whatever their nodes are called. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { atEnd, rise } from '../rule/curves.ts';

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
  diagnosis:
    'Paid by F1 alone, greedy answers to unseen graphs go from an F1 of 0.57 to 0.80, and as far where nodes have names that no reward was paid on; whole sets are exact in 59 % of the graphs after 30 %. That is skill by the measure of this page, and probably a choice between two ways of expecting links that the start policy was shown: it lists a contact’s times no more truly by it than before (45 to 48 % of the steps), and no demonstration was right in any other way. Sampled F1 rises by 8.8 points (7.4 to 10.2), just below the bound, as slips in the list cost what the choice gains. Answers say more often what their steps expect (65 to 74 %), although nothing is paid for it; with form alone they do not. The coin’s drift of 1.3 points has an interval that reaches past its bound on four seeds.',
};
