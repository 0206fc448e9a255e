/** RRPO’s claim: fewer of the planted errors for as much drift, and the good response stays as likely as it was. */
import type { ArmResults, Claim, Condition, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm } from '../rule/conditions.ts';
import { atEnd, curveOf, lately } from '../rule/curves.ts';

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
    'What the paper says is seen at this size, and most of it is about staying where training has come to. Compared by the word in which they differ and held by a KL, pairs take away 16.3 of 25.3 points of repeating responses, sampled points of the rubric rise by 1.2 and greedy ones fall by 0.8. DPO takes 21.6 away and costs 17.6 points where the policy samples; without the KL it is 20.6 and 23.2. Where other words are compared 1.8 points go, so that it is the words that teach. The condition on errors for a nat of drift holds by far (2.7 more than DPO, where 1 was asked), and it favours whoever drifts less. At equal drift it is a matter of how DPO’s curve is drawn between its start and its first evaluation: at RRPO’s end, with the drift at which its last round begins, 0.054 nats a token, it has taken 6.7 points more away (4.3 to 9.1) by a straight line, and 3.2 (1.2 to 5.1) where errors fall with the root of the drift; by the straight line it was 1.5 (−1.7 to 4.7) after four rounds and 2.9 (−0.4 to 6.1) after eight; by the root it was 0.2 (−1.8 to 2.3) and 0.8 (−1.4 to 3.0). DPO stopped after four rounds would have been nearly as good at twice the drift: 1.8 points fewer repetitions than RRPO at its end, and 0.9 points less for its responses. It goes on to 0.6 nats and loses 18 points; with the KL the policy stays. The good response comes to be likelier rather than staying as it was, by 0.04 nats a token, in DPO by 0.35. The controls hold: with a coin repetitions become more frequent, and form takes 0.8 points of them away (1.8 less to 0.3 more). RRPO drifts further than the observation had allowed: 0.058 nats a token in the last three rounds, and 0.05 was the most. The second attempt, from a start of a sixth of the size and with twice the tasks, had RRPO above DPO and DPO above no KL in points, but RRPO, which lost 2.6, below both controls and other words; for a nat of drift it did away with 0.67 more than DPO (0.26 to 1.07), where 1 was asked.',
};
