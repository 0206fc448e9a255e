/** The claim of SPPO: under a preference without a best style it plays a mixture, where methods that follow the winner end with one style. */

import { mean, winRatesAgainst } from 'rollmesh';
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, rises } from '../rule/conditions.ts';
import { curveOf, monitorOf } from '../rule/curves.ts';

/** The win matrix of the recipe's game between three styles of equal quality: each beats one and loses to one by 2 in log-odds. */
const STYLE_WINS = [0, 1, 2].map((a) =>
  [0, 1, 2].map((b) => 1 / (1 + Math.exp(-2 * [0, 1, -1][(b - a + 3) % 3]!))),
);

/** The mean of a curve's second half, when it has left the start behind. */
export const lateOf = (curve: readonly number[]): number => mean(curve.slice(Math.ceil(curve.length / 2)));
const exploited =
  (arm: string): Measure =>
  (r, s) =>
    lateOf(curveOf(r, arm, s, 'exploitability'));
const chosenOf =
  (arm: string): Measure =>
  (r, s) =>
    mean(monitorOf(r, arm, s, 'chosen').slice(1));

/** By how much each mixture (a row of shares for each evaluation) beats the one before it, beyond one half, on average. */
export function outplays(mixtures: readonly (readonly number[])[]): number {
  const wins = mixtures.slice(1).map((mixture, i) => {
    const rates = winRatesAgainst(STYLE_WINS, mixtures[i]!);
    return mixture.reduce((sum, share, style) => sum + share * rates[style]!, 0) - 0.5;
  });
  return mean(wins);
}

const outplaysOf =
  (arm: string): Measure =>
  (r, s) => {
    const [short, medium, long] = ['short', 'medium', 'long'].map((style) => curveOf(r, arm, s, style));
    return outplays(short!.map((share, i) => [share, medium![i]!, long![i]!]));
  };

export const claim: Claim = {
  description:
    'Under a preference in which each of three styles beats one and loses to one, SPPO beats what it was before and stays mixed, while DPO on the same pairs ends with one style. The responses that SPPO’s pairs prefer become likelier.',
  rounds: 16,
  evaluateEvery: 4,
  pictures: {
    exploitability: 'Exploitability of the mixture of styles',
    sampled: 'Points of the rubric, share',
  },
  arms: [
    { name: 'sppo', description: 'the log-ratio of each response is regressed on its win rate' },
    { name: 'dpo', variant: 'dpo', description: 'iterative DPO on the same pairs' },
    coinArm('preferences by coin', { seedCount: 8 }),
  ],
  conditions: [
    {
      description: 'exploitability, second half of the run, dpo above sppo',
      measure: (r, s) => exploited('dpo')(r, s) - exploited('sppo')(r, s),
      atLeast: 0.1,
    },
    {
      description: 'sppo: exploitability, second half of the run (one style alone has 0.38)',
      measure: exploited('sppo'),
      atMost: 0.1,
    },
    {
      description: 'sppo: change of a chosen response’s log-likelihood in a round, nats',
      measure: chosenOf('sppo'),
      atLeast: 0.05,
    },
    {
      description:
        'sppo: win rate beyond one half of each evaluation’s mixture against the one four rounds before',
      measure: outplaysOf('sppo'),
      atLeast: 0.003,
    },
    {
      description:
        'random: win rate beyond one half of each evaluation’s mixture against the one four rounds before',
      measure: outplaysOf('random'),
      atMost: 0.003,
      control: true,
    },
    doesNotRise('random', 0.02),
  ],
  observations: [
    {
      description: 'random: exploitability, second half of the run',
      measure: exploited('random'),
      atMost: 0.1,
    },
    {
      description: 'random: change of a chosen response’s log-likelihood in a round, nats',
      measure: chosenOf('random'),
      atLeast: 0.05,
    },
    rises('sppo', 0.02),
    {
      description: 'change of a chosen response’s log-likelihood in a round, nats, sppo above dpo',
      measure: (r, s) => chosenOf('sppo')(r, s) - chosenOf('dpo')(r, s),
      atLeast: 0.02,
    },
  ],
  gap: {
    figures: [],
    label: 'paid by win rate',
    meaning:
      'There is none. The reward is a win rate against the responses of the same prompt, whose mean is one half whatever they are worth.',
  },
  diagnosis:
    'All six conditions hold, on eight seeds. SPPO plays the mixture: it ends at 28 to 41 % short and 31 to 44 % long responses, with an exploitability of 0.036 (0.014 to 0.053; 0.044 at the start and 0.077 after four rounds, as steps of multiplicative weights circle an equilibrium), while DPO on the same pairs ends with 95 to 100 % short. Each evaluation’s mixture beats the one before by 0.005 of a win rate (0.004 to 0.007), which is little because no style is far ahead near the equilibrium. That DPO ends with one style depends little on its β: at 1 and at 3 its exploitability was 0.32 and 0.16 in two runs outside of the record, against 0.37 at 0.1. Staying mixed does not distinguish SPPO from chance: preferences by coin keep the mixture too (0.052) and raise the likelihood of what they chose as much, and a policy that is not trained would keep it. What SPPO has over them is that it beats what it was. It is no skill in the rubric: sampled points do not rise and greedy ones fall by 9.8, since one point is worth a quarter of a logit; DPO, which ends with one style, gains 15.',
};
