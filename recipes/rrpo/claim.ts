/** RRPO’s claim: fewer of the planted errors for as much drift, and the good response stays as likely as it was. */
import type { ArmResults, Claim, Condition, Measure } from '../../core/claims/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm } from '../../core/claims/conditions.ts';
import { atEnd, curveOf, lately } from '../../core/claims/curves.ts';

/** Share of repeating responses that training has done away with. */
const fewer = (r: ArmResults, arm: string, s: number): number =>
  curveOf(r, arm, s, 'repeats')[0]! - atEnd(r, arm, s, 'repeats');
/** The same by the nats a token that the policy is away from the start. */
const perDrift = (r: ArmResults, arm: string, s: number): number =>
  fewer(r, arm, s) / lately(r, arm, s, 'kl', 1);
const less =
  (figure: string, arm: string, other: string): Measure =>
  (r, s) =>
    lately(r, other, s, figure, 3) - lately(r, arm, s, figure, 3);

const FEWER = 'repeating responses, fewer at the end than at the start';
/** A control has no business with the error that is planted. */
const repeatsOn = (arm: string): Condition => ({
  description: `${arm}: ${FEWER}`,
  measure: (r, s) => fewer(r, arm, s),
  atMost: 0.03,
  control: true,
});
const KEPT =
  'log-ratio of policy and start on what the good response shares with the damaged one, last three rounds, nats a token';

export const claim: Claim = {
  description:
    'Compared by the words in which they differ and held by a KL token by token, pairs do away with more of the planted errors than DPO does for as much drift from the start, and the good response stays as likely as it was. Compared by other words they teach nothing.',
  startPolicy: 'style-wishes',
  // Two attempts, from a start of a sixth of the size, had 30 to 45.
  seeds: [46, 47, 48, 49, 50, 51, 52, 53],
  rounds: 12,
  // Half of the recipe’s: the policy has six times the parameters, and a claim takes half an hour of two cores.
  tasks: 64,
  evaluateEvery: 4,
  pictures: {
    repeats: 'Responses with a word twice, sampled',
    sampled: 'Points of the rubric, sampled',
  },
  arms: [
    { name: 'rrpo', description: 'as published' },
    { name: 'dpo', variant: 'dpo', description: 'all tokens are compared, and there is no KL' },
    { name: 'no kl', variant: 'no-kl', description: 'the differing words are compared, and there is no KL' },
    {
      name: 'random spans',
      variant: 'random-spans',
      description: 'other words are compared, drawn from those that do not differ, with the KL',
    },
    coinArm('a coin says which of the two is preferred', { seedCount: 8 }),
    formatArm('any well-formed response is preferred to itself with its form broken', { seedCount: 8 }),
  ],
  conditions: [
    {
      description: `rrpo: ${FEWER}`,
      measure: (r, s) => fewer(r, 'rrpo', s),
      atLeast: 0.05,
    },
    {
      description: 'repeating responses done away with, a nat of drift a token, rrpo above dpo',
      measure: (r, s) => perDrift(r, 'rrpo', s) - perDrift(r, 'dpo', s),
      atLeast: 1,
    },
    {
      description: 'KL to the start on own responses, last three rounds, no kl above rrpo, nats a token',
      measure: less('kl', 'rrpo', 'no kl'),
      atLeast: 0.005,
    },
    {
      description: `rrpo: ${KEPT}`,
      measure: (r, s) => lately(r, 'rrpo', s, 'kept', 3),
      atLeast: -0.02,
    },
    {
      description: 'repeating responses at the end, random spans above rrpo',
      measure: (r, s) => atEnd(r, 'random spans', s, 'repeats') - atEnd(r, 'rrpo', s, 'repeats'),
      atLeast: 0.05,
    },
    doesNotRise('random'),
    doesNotRise('format'),
    repeatsOn('random'),
    repeatsOn('format'),
  ],
  observations: [
    endsAbove('rrpo', 'dpo', 0.03),
    { description: `dpo: ${KEPT}`, measure: (r, s) => lately(r, 'dpo', s, 'kept', 3), atLeast: -0.02 },
    {
      description: 'rrpo: KL to the start on own responses, last three rounds, nats a token',
      measure: (r, s) => lately(r, 'rrpo', s, 'kl', 3),
      atMost: 0.05,
    },
  ],
  gap: {
    figures: [],
    label: 'pairs by construction',
    meaning:
      'There is none. What is preferred is known by construction and earns 1 throughout; no judge rates responses.',
  },
  diagnosis:
    'What the paper says is nearly all seen. Compared by the word in which they differ and held by a KL, pairs take 12 points of repeating responses away, and the policy earns 3 points less than at the start; DPO takes 17 points away and costs 9, and without the KL it is 21 and 20. Where other words are compared nothing is learned, so that it is the words that teach. The good response comes to be likelier rather than staying as it was, in DPO more so. What is not certain is the price: for a nat of drift a token RRPO does away with more errors than DPO on seven of eight seeds, by 0.67 in the mean (0.26 to 1.07), and 1 was asked; a first attempt had measured 0.91 (0.56 to 1.26). Nor is it certain that form alone does nothing: responses that are preferred to themselves with their form broken repeat a word 1.4 points less often in the end on four seeds (−0.2 to 3.0, and 3 was the most allowed), where RRPO does it 12.4 points less, and they took 1.7 times its tokens to train. RRPO drifts further from the start than the observation of it had allowed: 0.076 nats a token (0.067 to 0.084), and 0.05 was the most. The rubric has five points, of which a repeated word costs one, so that fewer repeated words can cost points for the others: no arm earns more than the start where it samples, and RRPO’s greedy responses alone gain (1.1 points).',
};
