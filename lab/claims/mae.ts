/** The claim of Multi-Agent Evolve: without the gate on quality, unsolvable questions fill the store, and the solver ends up worst. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, endsAbove, formatArm, neverRises, POINTS, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

/** The arms that the one without the gate is compared with. */
const GATED = ['full', 'frozen proposer', 'frozen solver', 'frozen judge'];

const unsolvable =
  (arm: string): Measure =>
  (r, s) =>
    lately(r, arm, s, 'unsolvable', 1);

export const claim: Claim = {
  description:
    'With one shared policy and no ground truth, the gate on quality keeps unsolvable questions out of the store. Without it the store is the least solvable and the solver the poorest, poorer than with any role frozen.',
  rounds: 20,
  evaluateEvery: 10,
  pictures: {
    sampled: 'Held-out accuracy, sampled',
    accuracy: 'Held-out accuracy, greedy',
    forcedWorked: 'Held-out accuracy, steps forced',
  },
  arms: [
    { name: 'full', description: 'as published' },
    {
      name: 'no gate',
      variant: 'no-gate',
      description: 'every question that parses is stored and paid for difficulty',
    },
    { name: 'frozen proposer', freeze: ['proposer'], description: 'the proposer stays at version 0' },
    {
      name: 'frozen solver',
      freeze: ['solver'],
      description: 'the solver is not trained: what sharing weights does alone',
    },
    { name: 'frozen judge', freeze: ['judge'], description: 'the judge stays at version 0' },
    { name: 'gold', reward: 'gold', description: 'upper bound: the exact checker in place of the ratings' },
    formatArm('every rating counts as 1'),
    coinArm('a coin in place of the ratings'),
  ],
  partners: [
    { partner: 'proposer', trained: 'full', frozen: 'frozen proposer' },
    { partner: 'judge', trained: 'full', frozen: 'frozen judge' },
  ],
  conditions: [
    rises('full', POINTS),
    {
      description:
        'share of the store that is unsolvable at the end, no gate above the highest of full and each role frozen',
      measure: (r, s) => unsolvable('no gate')(r, s) - Math.max(...GATED.map((arm) => unsolvable(arm)(r, s))),
      atLeast: 0.1,
    },
    ...GATED.map((arm) => endsAbove(arm, 'no gate')),
    neverRises('format', 0.05),
    neverRises('random', 0.05),
  ],
  observations: [
    {
      description: 'share of new questions that are unsolvable, last five rounds, no gate above full',
      measure: (r, s) =>
        lately(r, 'no gate', s, 'unsolvableProposed') - lately(r, 'full', s, 'unsolvableProposed'),
      atLeast: 0.1,
    },
    endsAbove('gold', 'full'),
    ...GATED.slice(1).map((arm) => endsAbove('full', arm)),
  ],
  diagnosis:
    'All eight conditions hold, on eight seeds. Without the gate the proposer turns to questions that nobody can solve, which are 72 points more frequent among new questions (68 to 77): seven of ten stored questions are then unsolvable, against one in twenty with the gate. What pays on such questions is a guess in place of long totals, and this becomes the solver’s answer to everything: it ends at 33 %, against 78 % with the gate and 54 % where the solver is not trained. With exact labels in place of the ratings it ends 2 points higher (0.4 to 3.9). What rises is sampled accuracy, from 59 %; greedy accuracy falls from 95 to 90 %, with exact labels as well. The training of the judge, which is paid for form alone, is worth nothing here (0.4 points less, 1.5 less to 0.7 more). That of the proposer is worth 8 points (3 to 13), which is within noise of the 5 that were asked.',
};
