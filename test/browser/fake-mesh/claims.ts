/** The fake mesh's claims file. */
import { Random } from '../../../core/random.ts';
import { course, HOSTILE } from './drawn.ts';

const ARMS = ['mix', 'judge', 'frozen judge', 'random', 'format', 'frozen proposer'];

/** As web/dashboard/claims.json holds it. */
export function fakeClaims() {
  const rounds = [0, 10, 20, 30, 40];
  const random = new Random('fake/claims');
  const curve = (best: number) => rounds.map((round) => course(random, 0.342, best, round / 40));
  const arms = ARMS.map((name, i) => {
    const best = [0.74, 0.66, 0.34, 0.33, 0.22, 0.7][i]!;
    return {
      name,
      description: `what ${name} is there for`,
      rounds,
      curves: { accuracy: curve(best), sampled: curve(best - 0.1), forcedWorked: curve(0.7) },
    };
  });
  const conditions = [
    {
      description: 'the trained judge ends above the frozen one',
      bound: 'at least 0.2',
      measured: [0.31, 0.29, 0.33],
      interval: { mean: 0.31, low: 0.26, high: 0.36 },
      outcome: 'holds',
    },
    {
      description: HOSTILE,
      bound: 'at most 0.03',
      measured: [0.01, 0.05, -0.02],
      interval: { mean: 0.013, low: -0.074, high: 0.101 },
      outcome: 'within noise',
    },
    {
      description: 'an arm was not played',
      bound: 'at least 0.05',
      measured: [],
      interval: { mean: 0, low: null, high: null },
      outcome: 'not played',
    },
  ];
  const claim =
    'Where the solver never sees gold, a judge that is trained carries it; the same judge frozen is hacked.';
  return {
    trio: {
      claim,
      verdict: 'partly',
      rounds: 40,
      seeds: [0, 1, 2],
      commit: '0123456789abcdef',
      conditions,
      pictures: { accuracy: 'Greedy', sampled: 'Sampled', forcedWorked: 'Steps forced' },
      arms,
    },
  };
}
