/** SPPO's claim: under a preference without a best style it plays the mixture, where methods that follow the winner run away. */
import { type ArmResults, type Claim, curveOf, monitorOf, rise } from '../../core/claims.ts';
import { winRatesAgainst } from '../../core/rl/exploitability.ts';
import { mean } from '../../core/rl/statistics.ts';
import { STYLE_WINS } from '../../core/tasks/style-game.ts';

/** Mean of a curve's second half, where it has left the start behind. */
export const lateOf = (curve: readonly number[]): number => mean(curve.slice(Math.ceil(curve.length / 2)));
const exploited = (arm: string) => (r: ArmResults, s: number) => lateOf(curveOf(r, arm, s, 'exploitability'));
const chosenOf = (arm: string) => (r: ArmResults, s: number) => mean(monitorOf(r, arm, s, 'chosen').slice(1));

/** By how much each mixture (rows of shares, in the order of exams) beats the one before it beyond one half, mean. */
export function outplays(mixtures: readonly (readonly number[])[]): number {
  const wins = mixtures.slice(1).map((mixture, i) => {
    const rates = winRatesAgainst(STYLE_WINS, mixtures[i]!);
    return mixture.reduce((sum, share, style) => sum + share * rates[style]!, 0) - 0.5;
  });
  return mean(wins);
}

const outplaysOf = (arm: string) => (r: ArmResults, s: number) => {
  const [short, medium, long] = ['short', 'medium', 'long'].map((style) => curveOf(r, arm, s, style));
  return outplays(short!.map((share, i) => [share, medium![i]!, long![i]!]));
};

const conditions: Claim['conditions'] = [
  {
    says: 'dpo against sppo: exploitability, second half of the run',
    measure: (r, s) => exploited('dpo')(r, s) - exploited('sppo')(r, s),
    atLeast: 0.1,
  },
  {
    says: 'sppo: exploitability, second half of the run (one style alone has 0.38)',
    measure: exploited('sppo'),
    atMost: 0.1,
  },
  {
    says: 'sppo: change of a chosen response’s log-likelihood in a round, nats',
    measure: chosenOf('sppo'),
    atLeast: 0,
  },
  {
    says: 'sppo: each exam’s mixture beats the one four rounds before, win rate above one half',
    measure: outplaysOf('sppo'),
    atLeast: 0.003,
  },
  {
    says: 'random: it does not',
    measure: outplaysOf('random'),
    atMost: 0.003,
  },
  {
    says: 'random: points of sampled responses do not rise',
    measure: (r, s) => rise(r, 'random', s, 'sampled'),
    atMost: 0.02,
  },
];

const observations: Claim['observations'] = [
  {
    says: 'random: exploitability, second half of the run',
    measure: exploited('random'),
    atMost: 0.1,
  },
  {
    says: 'random: change of a chosen response’s log-likelihood in a round, nats',
    measure: chosenOf('random'),
    atLeast: 0,
  },
  {
    says: 'sppo: points of sampled responses rise',
    measure: (r, s) => rise(r, 'sppo', s, 'sampled'),
    atLeast: 0.02,
  },
  {
    says: 'sppo against dpo: change of a chosen response’s log-likelihood in a round, nats',
    measure: (r, s) => chosenOf('sppo')(r, s) - chosenOf('dpo')(r, s),
    atLeast: 0,
  },
];

export const sppoClaim: Claim = {
  says: 'Under a cyclic preference SPPO beats what it was before and stays mixed, DPO on the same pairs runs away to one style; SPPO’s chosen responses do not lose likelihood.',
  seeds: [9, 10, 11],
  rounds: 16,
  evaluateEvery: 4,
  pictures: {
    exploitability: 'Exploitability of the mixture of styles',
    sampled: 'Points of the rubric, share',
  },
  arms: [
    { name: 'sppo', says: 'each response regressed on its win rate' },
    { name: 'dpo', variant: 'dpo', says: 'iterative DPO on the same pairs' },
    { name: 'random', reward: 'random', says: 'control: preferences by coin' },
  ],
  conditions,
  observations,
  diagnosis:
    'SPPO turns round the equilibrium: 43 to 50 % short after four rounds, 34 to 42 % short and 33 to 39 % long at the end. DPO ends with 98 to 100 % short, on two seeds after a circle by way of 57 and 74 % long. Preferences by coin keep the mixture too (.03, .08, .04), and raise the likelihood of what they chose by .14 nats, as DPO does by .10 to .18: what tells SPPO apart is that DPO runs away, not its own two bounds. Points do not rise: one is worth a quarter of a logit. Revised twice. In the first run (seeds 0 to 2, eight rounds, beta .5) DPO had run away on two seeds of three. For the second (seeds 3 to 5, 16 rounds, beta 1) DPO’s bound went from .05 to .10 and SPPO’s was loosened from .10 to .19, which was not said; it measured .105, .091, .118 and fails .10, which is the bound again. Now 128 prompts are gone over once, chosen on pilots, instead of 64 four times, by which SPPO drifts towards short and does not turn; beta 2 alone did not help (.11, .12).',
};
