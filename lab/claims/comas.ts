/** The claim of CoMAS: agents that pay each other, without labels, come to answer better than untrained ones, and critiques are a part of it. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, rises } from '../rule/conditions.ts';
import { lately } from '../rule/curves.ts';

const ROUNDS = 36;
const LEAST = 0.05;
const GREEDY = 'accuracy';

export const claim: Claim = {
  description:
    'Two agents that discuss questions and are paid by each other’s scores, without labels, answer held-out questions better than before, and better than where nobody criticises at equal sampled tokens. Solutions and critiques are paid near one half.',
  startPolicy: 'arithmetic-debating',
  startSeeds: 'one each',
  rounds: ROUNDS,
  evaluateEvery: ROUNDS,
  tokens: 160_000,
  arms: [
    { name: 'comas', description: 'as published' },
    { name: 'no critique', variant: 'no-critique', description: 'solutions are scored as they are' },
    coinArm('a fair coin scores solutions'),
  ],
  conditions: [
    rises('comas', LEAST, GREEDY),
    endsAbove('comas', 'no critique', LEAST, GREEDY),
    {
      description: 'comas: distance of what solutions are paid from one half, last five rounds',
      measure: (r, s) => Math.abs(lately(r, 'comas', s, 'solutionReward') - 0.5),
      atMost: 0.15,
    },
    doesNotRise('random', LEAST, GREEDY),
  ],
  observations: [rises('comas', LEAST)],
  diagnosis:
    'Discussion among equals without labels makes this start worse: greedy 43.6 to 25.7 %, sampled 22.4 to 18.3 %, and a coin does so a little more (19.3 %). What solutions are paid rises from 0.64 in the first five rounds to 0.69 in the last five, while fewer of them are right: scores are given for something else. Critiques are worth little: 2.9 points above no critique (−1.9 to 7.8). Of the start’s sampled answers 22 % are right; from a stronger start the scores of others may say more. Version 0, which nobody trains, is the best of all.',
};
