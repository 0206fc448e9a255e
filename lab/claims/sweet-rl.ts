/** The claim of SWEET-RL: credit for single replies, by a critic that knows what the user wants, teaches more than pairs of whole talks. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, rises } from '../rule/conditions.ts';
import { meanOf, monitorOf } from '../rule/curves.ts';

const ROUNDS = 24;
const GREEDY = 'accuracy';

/** Rank correlation of the critic's word with what replies give, mean of the last five rounds that train the policy. */
const credit =
  (arm: string): Measure =>
  (results, seed) =>
    meanOf(monitorOf(results, arm, seed, 'turnCredit').filter(Number.isFinite).slice(-5));

export const claim: Claim = {
  description:
    'At equal sampled tokens, an assistant that learns from the word of a critic on single replies, which knows what the user wants, leaves more users content than one that learns from pairs of whole talks. A critic that does not know it says less of what replies give, and teaches less.',
  startPolicy: 'arithmetic-debating',
  startSeeds: 'one each',
  rounds: ROUNDS,
  evaluateEvery: ROUNDS,
  tokens: 80_000,
  arms: [
    { name: 'sweet-rl', description: 'as published' },
    {
      name: 'talks',
      variant: 'trajectory-dpo',
      description: 'DPO on pairs of whole talks, without a critic',
    },
    { name: 'blind', variant: 'blind', description: 'the critic does not know what the user wants' },
    coinArm('a fair coin says which talks the critic learns from'),
  ],
  conditions: [
    endsAbove('sweet-rl', 'talks', 0.05, GREEDY),
    endsAbove('sweet-rl', 'blind', 0.05, GREEDY),
    rises('sweet-rl', 0.05, GREEDY),
    {
      description:
        'rank correlation of the critic’s word with what replies give, last five rounds of the policy: sweet-rl above blind',
      measure: (r, s) => credit('sweet-rl')(r, s) - credit('blind')(r, s),
      atLeast: 0.1,
    },
    doesNotRise('random', 0.05, GREEDY),
  ],
  gap: {
    figures: [],
    label: 'pairs',
    meaning:
      'There is none. The policy learns from pairs of replies, and no reward is paid that could be set against the share of content users.',
  },
  diagnosis:
    'The critic that knows what the user wants says more of what replies give than a blind one (rank correlation 0.26 higher, 0.14 to 0.38), and the policy still loses nearly all that it could do: 37.7 to 6.7 % greedy, 43.9 to 12.8 % sampled, in 14 to 20 rounds, where pairs of whole talks leave it as it was (38.2 %). A blind critic leaves 1.5 %, one that learned from a coin 5.9 %: preferences between single replies ruin this start whatever the critic says. An exploration before it had seen eight rounds on one seed (35.8 to 30.6 %), and the fall goes on after them. With the same steps a start that answers 87 % greedily had lost nothing in twelve rounds (log 291); why a weaker one is ruined was not measured.',
};
