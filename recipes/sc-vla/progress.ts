/** What a robot forecasts of its own progress, and the reward that becomes of it. */
import type { Sequence, ValuePart } from '../../core/plan/training-plan.ts';
import { discountedReturns } from '../../core/rl/estimators/index.ts';

/** The discount of a turn. */
const GAMMA = 0.95;

/** What a robot has seen before a turn, as a head is asked about it: the value before the turn's first token. */
export const stateBefore = ({ prompt, ids }: Sequence): Sequence => ({ prompt, ids: ids.slice(0, 1) });

/** The progress head's regression on a successful episode of T turns: before turn t it is drawn to t/T [turns]. */
export const progressItems = (turns: readonly Sequence[]): ValuePart['items'] =>
  turns.map((turn, t) => ({ ...stateBefore(turn), targets: [t / turns.length] }));

/** Rewards of an episode's turns [turns] from the progress forecast before each of them [turns]: how far it moved, and for the last turn the episode's own reward. */
export const denseRewards = (progress: readonly number[], reward: number): number[] =>
  progress.map((before, t) => (t === progress.length - 1 ? reward : progress[t + 1]! - before));

/** G_t = Σ_{k ≥ t} γ^(k − t) · r_k [turns]. */
export const returnsOf = (rewards: readonly number[]): number[] =>
  discountedReturns([...rewards], { gamma: GAMMA });
