/** LlamaRL's claim: as samples grow old, what is learned with AIPO suffers least. */
import { type ArmResults, atEnd, type Claim, highest, rise } from '../../core/claims.ts';

const lag = (variant: string, says: string) => ({ name: variant, variant, says });

/** Sampled accuracy that a lag of 16 versions costs an objective. */
const cost = (r: ArmResults, s: number, objective: string) =>
  atEnd(r, `${objective}-0`, s, 'sampled') - atEnd(r, `${objective}-16`, s, 'sampled');

export const claim: Claim = {
  says: 'With samples of older versions AIPO learns as it does with fresh ones as long as the lag is small, and loses less than the uncorrected gradient and PPO’s clip where it is large.',
  seeds: [0, 1, 2],
  rounds: 24,
  evaluateEvery: 8,
  arms: [
    lag('aipo-0', 'fresh samples, AIPO'),
    lag('aipo-4', 'four versions old, AIPO'),
    lag('aipo-16', 'sixteen versions old, AIPO'),
    lag('none-0', 'fresh samples, the uncorrected gradient'),
    lag('none-16', 'sixteen versions old, the uncorrected gradient'),
    lag('ppo-clip-0', 'fresh samples, PPO’s clip'),
    lag('ppo-clip-16', 'sixteen versions old, PPO’s clip against the sampler'),
    { name: 'random', reward: 'random', variant: 'aipo-4', says: 'control: a fair coin, four versions late' },
  ],
  conditions: [
    { says: 'aipo-0: greedy accuracy rises', measure: (r, s) => rise(r, 'aipo-0', s), atLeast: 0.15 },
    {
      says: 'sampled accuracy at the end, aipo-4 against aipo-0',
      measure: (r, s) => atEnd(r, 'aipo-4', s, 'sampled') - atEnd(r, 'aipo-0', s, 'sampled'),
      atLeast: -0.05,
    },
    {
      says: 'what a lag of 16 costs, sampled, none above aipo',
      measure: (r, s) => cost(r, s, 'none') - cost(r, s, 'aipo'),
      atLeast: 0.05,
    },
    {
      says: 'what a lag of 16 costs, sampled, ppo-clip above aipo',
      measure: (r, s) => cost(r, s, 'ppo-clip') - cost(r, s, 'aipo'),
      atLeast: 0.02,
    },
    { says: 'random: greedy accuracy never rises', measure: (r, s) => highest(r, 'random', s), atMost: 0.03 },
  ],
};
