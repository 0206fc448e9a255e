/** What mae is held to: the gate keeps the store solvable, and the solver gains by ratings alone. */
import { atEnd, type Claim, lately, rise } from '../../core/claims.ts';

export const claim: Claim = {
  says: 'With one shared policy and no ground truth, the gate on quality keeps unsolvable questions out of the store, and without it the solver fares worst; each frozen role costs something.',
  seeds: [0, 1, 2],
  rounds: 8,
  evaluateEvery: 8,
  arms: [
    { name: 'full', says: 'as published' },
    {
      name: 'no gate',
      variant: 'no-gate',
      says: 'every readable question is stored and paid for difficulty',
    },
    { name: 'frozen proposer', freeze: ['proposer'], says: 'the proposer stays version 0' },
    {
      name: 'frozen solver',
      freeze: ['solver'],
      says: 'the solver is not trained: what sharing weights does alone',
    },
    { name: 'frozen judge', freeze: ['judge'], says: 'the judge stays version 0' },
    { name: 'gold', reward: 'gold', says: 'upper bound: the oracle instead of ratings' },
    { name: 'format', reward: 'format', says: 'control: every rating counts 1' },
    { name: 'random', reward: 'random', says: 'control: a coin instead of ratings' },
  ],
  conditions: [
    {
      says: 'unsolvable share of the store at the end, no gate above full',
      measure: (r, s) => lately(r, 'no gate', s, 'unsolvable', 1) - lately(r, 'full', s, 'unsolvable', 1),
      atLeast: 0.1,
    },
    {
      says: 'unsolvable share among new questions, no gate above full',
      measure: (r, s) =>
        lately(r, 'no gate', s, 'unsolvableProposed') - lately(r, 'full', s, 'unsolvableProposed'),
      atLeast: 0.1,
    },
    {
      says: 'full: greedy accuracy rises',
      measure: (r, s) => rise(r, 'full', s),
      atLeast: 0.05,
    },
    {
      says: 'greedy accuracy at the end, full above no gate',
      measure: (r, s) => atEnd(r, 'full', s) - atEnd(r, 'no gate', s),
      atLeast: 0.02,
    },
    {
      says: 'greedy accuracy at the end, full above frozen solver',
      measure: (r, s) => atEnd(r, 'full', s) - atEnd(r, 'frozen solver', s),
      atLeast: 0.02,
    },
    {
      says: 'random: greedy accuracy does not rise',
      measure: (r, s) => rise(r, 'random', s),
      atMost: 0.05,
    },
  ],
  diagnosis:
    'Without the gate the store fills with unsolvable questions and accuracy suffers, as in the paper. The other two conditions are on greedy accuracy, which here is also the choice to write steps: an untrained solver role on shared weights, format and coins each flip it by tens of points in some seeds and not in others. Sampled accuracy tells them apart: it ends at 62 to 73 % in the full arm, 46 to 49 % with the solver frozen, 18 to 49 % under coins.',
};
