/** The claim of SIOP: without labels, pay for each search by how far it supports the answers of its group teaches more than pay for the majority's answer. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, rises } from '../rule/conditions.ts';
import { meanOf, monitorOf } from '../rule/curves.ts';

const atFind =
  (arm: string): Measure =>
  (r, s) =>
    meanOf(monitorOf(r, arm, s, 'creditAtFind').filter((value) => !Number.isNaN(value)));

export const claim: Claim = {
  description:
    'A searcher that nobody tells an answer, and that is paid for each search by how much likelier it makes a reliable answer of its group, answers more held-out questions after the same tokens than one that is paid where its answer is the most frequent one. The searches that find the answer are paid more than the others.',
  startPolicy: 'search-stumbling',
  rounds: 12,
  tokens: 30_000,
  evaluateEvery: 12,
  arms: [
    { name: 'siop', description: 'as published' },
    { name: 'majority', variant: 'majority', description: 'the most frequent answer of a group is paid' },
    {
      name: 'shuffled',
      variant: 'shuffled',
      seedCount: 4,
      description: 'each episode is paid by the cluster of another one, drawn at random',
    },
    coinArm('a fair coin pays each episode'),
  ],
  conditions: [
    endsAbove('siop', 'majority', 0.05, 'accuracy'),
    rises('siop', 0.05, 'accuracy'),
    {
      description:
        'siop: pay of the searches that first find the reference answer, above that of the others, mean over the rounds',
      measure: atFind('siop'),
      atLeast: 0.5,
    },
    doesNotRise('random', 0.05, 'accuracy'),
  ],
  observations: [endsAbove('siop', 'majority', 0.05), endsAbove('siop', 'shuffled', 0.05, 'accuracy')],
  gap: {
    figures: [],
    label: 'likelihoods',
    meaning:
      'There is none. A search is paid by how much likelier it makes an answer of the group, in nats, which is no share of exact answers.',
  },
  diagnosis:
    'The pay finds the right searches: those that first find the reference answer are paid 4.0 nats more than the others (3.7 to 4.3), with nobody told an answer. The policy gains nothing by it in the seven rounds that the tokens buy: greedy 33.0 to 30.9 % (−4.0 to −0.1), 2.4 points above a payment for the most frequent answer (−0.5 to 5.4), sampled 25.0 to 27.4 %. A coin ends at 34.5 % greedy, within its noise. The right answer has to come from somewhere, and this start gives it in a quarter of its samples. More rounds were not tried.',
};
