/** The claim of SCIR: pairs on which two internal rewards agree are right more often, and teach more. */

import { mean } from 'rollmesh';
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises } from '../rule/conditions.ts';
import { lately, monitorOf } from '../rule/curves.ts';

const RIGHT = 'share of trained pairs that the rubric orders alike, last five rounds';
const above =
  (arm: string, other: string): Measure =>
  (r, s) =>
    lately(r, arm, s, 'trainedRight') - lately(r, other, s, 'trainedRight');

/** The share of pairs on which the rewards agree in the first three rounds that have an implicit reward. */
const agreedFirst: Measure = (r, s) => mean(monitorOf(r, 'scir', s, 'consistent').slice(1, 4));

export const claim: Claim = {
  description:
    'Pairs on which the judge of a policy and its implicit reward agree are ordered as the rubric orders them more often than all pairs that it judges, or as many of them at random, and responses come to earn more points by them. The two rewards come to agree more often.',
  rounds: 12,
  evaluateEvery: 6,
  pictures: { accuracy: 'Points of the rubric, greedy', sampled: 'Points of the rubric, sampled' },
  arms: [
    { name: 'scir', description: 'pairs on which both rewards agree' },
    { name: 'plain', variant: 'plain', description: 'all pairs that the judge orders' },
    { name: 'random pairs', variant: 'random-pairs', description: 'as many pairs as agree, drawn at random' },
    coinArm('a coin says what a response is worth'),
    formatArm('any well-formed response is worth as much as another'),
  ],
  conditions: [
    { description: `${RIGHT}, scir above plain`, measure: above('scir', 'plain'), atLeast: 0.05 },
    {
      description: `${RIGHT}, scir above random pairs`,
      measure: above('scir', 'random pairs'),
      atLeast: 0.05,
    },
    endsAbove('scir', 'plain', 0.03),
    endsAbove('scir', 'random pairs', 0.03),
    {
      description:
        'scir: share of pairs on which the rewards agree, last five rounds above rounds two to four',
      measure: (r, s) => lately(r, 'scir', s, 'consistent') - agreedFirst(r, s),
      atLeast: 0.03,
    },
    rises('scir', POINTS),
    doesNotRise('random'),
    doesNotRise('format'),
  ],
  gap: {
    figures: ['reward', 'points'],
    meaning: 'The gap is the policy’s own score of its responses minus their share of the rubric’s points.',
  },
  diagnosis:
    'Agreement with the implicit reward selects wrong pairs here. In the last five rounds the rubric orders 13 points fewer of the trained pairs like the policy than where all pairs are trained, and 11 fewer than where as many are drawn at random; the responses lose 5.8 points of the rubric (−11.7 to 0.2) where the others gain 3.9 and 3.2. The two rewards do not come to agree more often, but less, by 6.5 points. A pilot had shown that the implicit reward is right on a third of the pairs after one round; to train all pairs for four rounds first, which the recipe does for that reason, was not enough. One explanation, which no arm tests, is that a hardly trained implicit reward orders responses by what the policy already finds likely, and that what agrees with it repeats this. That the control by form holds shows nothing: equal scores make no pairs, so that it trained on 405 to 807 tokens a run, 0.5 to 1.0 % of the some 80,000 of the main arm.',
};
