/**
 * Generalised advantage estimation (Schulman et al. 2016) along one sequence of tokens. Frameworks disagree on masked tokens:
 * SkyRL's recursion runs `through` them, verl's `skip`s them as if they were cut out. Both are implemented.
 */
import { expectSameLength, type Numbers } from '../types.ts';

export interface GaeInput {
  /** Reward of each token [T]. */
  readonly rewards: Numbers;
  /** The critic's value before each token [T]; the value after the last one is 0. */
  readonly values: Numbers;
  /** 1 on generated tokens [T]. Default all. */
  readonly mask?: Numbers;
}

export interface GaeOptions {
  readonly gamma: number;
  readonly lambda: number;
  /** Default `through`. */
  readonly masked?: 'through' | 'skip';
}

/** δ = r + γV' − V, A = δ + γλA', return = A + V; unwhitened. A skipped token repeats the advantage of what follows it. */
export function gae(
  { rewards, values, mask }: GaeInput,
  { gamma, lambda, masked = 'through' }: GaeOptions,
): { advantages: number[]; returns: number[] } {
  expectSameLength('rewards', rewards, 'values', values);
  if (mask) expectSameLength('rewards', rewards, 'mask entries', mask);
  const advantages = new Array<number>(rewards.length);
  let nextValue = 0;
  let nextAdvantage = 0;
  for (let t = rewards.length - 1; t >= 0; t--) {
    if (masked === 'through' || !mask || mask[t] !== 0) {
      const delta = rewards[t]! + gamma * nextValue - values[t]!;
      nextAdvantage = delta + gamma * lambda * nextAdvantage;
      nextValue = values[t]!;
    }
    advantages[t] = nextAdvantage;
  }
  return { advantages, returns: advantages.map((advantage, t) => advantage + values[t]!) };
}
