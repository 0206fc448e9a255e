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
};
