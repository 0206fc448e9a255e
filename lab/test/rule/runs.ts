/** Runs for tests of claims. */
import type { Summary } from 'rollmesh/local';

/** A run whose greedy accuracy was this at each evaluation, and half as much when sampled. */
export const runOf = (...accuracy: number[]): Summary => ({
  kind: 'summary',
  recipe: 'trio',
  seed: 0,
  reward: 'mix',
  freeze: [],
  policy: 'p',
  from: 0,
  others: 0,
  rounds: accuracy.length - 1,
  versions: {},
  heldout: accuracy.map((value, round) => ({
    round,
    task: 'arithmetic',
    n: 500,
    accuracy: value,
    sampled: value / 2,
    worked: 0,
    forcedWorked: 0.7,
  })),
  judge: [],
  proposer: [],
  groups: { proposed: 0, admitted: 0, scored: 0, trained: 0, stale: 0, failed: 0 },
  duplicates: 0,
  tokens: { generated: 1e6, trained: 5e5 },
  wallMs: 0,
  learnerMs: 0,
  rolloutMs: 0,
});
