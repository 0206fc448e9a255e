/** The claim of JaxMARL: independent PPO, its simplest baseline, comes near the optimum of a grid for two agents. */
import type { Claim, Measure } from '../rule/claim.ts';
import { coinArm } from '../rule/conditions.ts';
import { atEnd, curveOf, rise } from '../rule/curves.ts';

const RETURN = 'return.meet';

/** How much of the way from the start’s return to that of the shortest ways was made. */
const closed =
  (arm: string): Measure =>
  (r, s) => {
    const start = curveOf(r, arm, s, RETURN)[0]!;
    return (atEnd(r, arm, s, RETURN) - start) / (curveOf(r, arm, s, 'best')[0]! - start);
  };

export const claim: Claim = {
  description:
    'Two agents, each of which is trained by PPO as if the other were a part of the world, make at least half of the way from the start’s return to that of the shortest ways in worlds that they never met.',
  rounds: 36,
  tasks: 4,
  evaluateEvery: 36,
  pictures: { accuracy: 'Held-out worlds in which both goals are reached' },
  arms: [
    { name: 'ippo', description: 'independent PPO with a critic, as the paper’s baseline' },
    coinArm('a fair coin pays each agent'),
  ],
  conditions: [
    {
      description: 'ippo: share of the way from the start’s return to that of the shortest ways',
      measure: closed('ippo'),
      atLeast: 0.5,
    },
    {
      description: 'random: share of that way',
      measure: closed('random'),
      atMost: 0.1,
      control: true,
    },
  ],
  observations: [
    {
      description: 'ippo: return of an agent rises',
      measure: (r, s) => rise(r, 'ippo', s, RETURN),
      atLeast: 0.05,
    },
    {
      description: 'ippo: share of held-out worlds in which both goals are reached rises',
      measure: (r, s) => rise(r, 'ippo', s),
      atLeast: 0.05,
    },
  ],
  diagnosis:
    'Independent PPO makes a twentieth of the way to the shortest ways (0.047, −0.022 to 0.116), and five seeds of eight rise. 36 rounds of 32 episodes are 1,152 episodes of two agents; a coin loses a seventh of the way in the same time (−0.135). Whether it comes near the optimum with more episodes is not answered by this attempt.',
};
