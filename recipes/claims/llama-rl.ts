/** LlamaRL's claim: as samples grow old, what is learned with AIPO suffers least. */
import { type ArmResults, atEnd, type Claim, highest, lately, rise } from '../../core/claims.ts';

const lag = (variant: string, says: string) => ({ name: variant, variant, says });

/** Accuracy at the end, of one arm above another. */
const above =
  (arm: string, other: string, figure = 'sampled') =>
  (r: ArmResults, s: number) =>
    atEnd(r, arm, s, figure) - atEnd(r, other, s, figure);

/** Accuracy at the end that a delay costs an objective more than AIPO. */
const costsMore =
  (objective: string, figure = 'sampled', delay = 16) =>
  (r: ArmResults, s: number) =>
    above(`${objective}-0`, `${objective}-${delay}`, figure)(r, s) -
    above('aipo-0', `aipo-${delay}`, figure)(r, s);

export const claim: Claim = {
  says: 'Samples that are sixteen versions old cost AIPO less of what fresh ones teach, in sampled accuracy, than they cost the uncorrected gradient, which drifts away from the start without bound, and PPO’s clip, which learns more slowly from them: both end lower.',
  seeds: [6, 7, 8],
  rounds: 28,
  evaluateEvery: 14,
  pictures: {
    accuracy: 'Greedy accuracy on held-out tasks',
    sampled: 'Sampled accuracy on held-out tasks',
  },
  arms: [
    lag('aipo-0', 'fresh samples: ratios leave 1 within a round alone, AIPO'),
    lag('aipo-4', 'four versions old, AIPO'),
    lag('aipo-16', 'sixteen versions old, AIPO'),
    lag('none-0', 'fresh samples, the uncorrected gradient'),
    lag('none-4', 'four versions old, the uncorrected gradient'),
    lag('none-16', 'sixteen versions old, the uncorrected gradient'),
    lag('ppo-clip-0', 'fresh samples, PPO’s clip'),
    lag('ppo-clip-4', 'four versions old, PPO’s clip against the sampler'),
    lag('ppo-clip-16', 'sixteen versions old, PPO’s clip against the sampler'),
    { name: 'random', reward: 'random', variant: 'aipo-4', says: 'control: a fair coin, four versions late' },
    {
      name: 'format',
      reward: 'format',
      variant: 'aipo-4',
      says: 'control: any well-formed answer, four versions late',
    },
  ],
  conditions: [
    {
      says: 'aipo-0: sampled accuracy rises',
      measure: (r, s) => rise(r, 'aipo-0', s, 'sampled'),
      atLeast: 0.08,
    },
    {
      says: 'sampled accuracy at the end, aipo-16 above none-16',
      measure: above('aipo-16', 'none-16'),
      atLeast: 0.03,
    },
    {
      says: 'sampled accuracy at the end, aipo-16 above ppo-clip-16',
      measure: above('aipo-16', 'ppo-clip-16'),
      atLeast: 0.02,
    },
    {
      says: 'sampled accuracy that sixteen versions cost, none above AIPO',
      measure: costsMore('none'),
      atLeast: 0.05,
    },
    {
      says: 'sampled accuracy that sixteen versions cost, PPO’s clip above AIPO',
      measure: costsMore('ppo-clip'),
      atLeast: 0.02,
    },
    ...['random', 'format'].map((arm) => ({
      says: `${arm}: sampled accuracy never rises`,
      measure: (r: ArmResults, s: number) => highest(r, arm, s, 'sampled'),
      atMost: 0.03,
    })),
  ],
  observations: [
    {
      says: 'sampled accuracy that four versions cost, none above AIPO',
      measure: costsMore('none', 'sampled', 4),
      atLeast: 0,
    },
    {
      says: 'sampled accuracy that four versions cost, PPO’s clip above AIPO',
      measure: costsMore('ppo-clip', 'sampled', 4),
      atLeast: 0,
    },
    {
      says: 'greedy accuracy that sixteen versions cost, none above AIPO',
      measure: costsMore('none', 'accuracy'),
      atLeast: 0,
    },
    {
      says: 'greedy accuracy that sixteen versions cost, PPO’s clip above AIPO',
      measure: costsMore('ppo-clip', 'accuracy'),
      atLeast: 0,
    },
    {
      says: 'sampled accuracy at the end with fresh samples, aipo-0 against ppo-clip-0',
      measure: above('aipo-0', 'ppo-clip-0'),
      atLeast: -0.03,
    },
    {
      says: 'sampled accuracy at the end, aipo-4 against aipo-0',
      measure: above('aipo-4', 'aipo-0'),
      atLeast: -0.05,
    },
    {
      says: 'sampled accuracy at the end, aipo-16 against aipo-0',
      measure: above('aipo-16', 'aipo-0'),
      atLeast: -0.07,
    },
    {
      says: 'distance from the start (k3, nats a token), late, none-16 above aipo-16',
      measure: (r, s) => lately(r, 'none-16', s, 'klToStart') - lately(r, 'aipo-16', s, 'klToStart'),
      atLeast: 10,
    },
  ],
};
