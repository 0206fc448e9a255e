/**
 * The unbiased estimate of majority@k (self-consistency; Wang et al., 2022, arXiv:2203.11171) from n samples of a question: the chance
 * that the most frequent answer among k of the n samples, drawn without replacement, is right. It is exact, not a simulation: the
 * subsets are counted by how often each answer is in them. Of t answers that are equally frequent each wins with chance 1/t.
 */
import { wrongInput } from '../errors.ts';

/** One of the distinct answers that the samples of a question gave. */
export interface AnswerCount {
  readonly count: number;
  readonly right: boolean;
}

/** [most + 1]: C(count, i) for i = 0 … most, in floating point; 0 beyond count. */
function choose(count: number, most: number): number[] {
  const out = [1];
  for (let i = 1; i <= most; i++) out.push((out[i - 1]! * (count - i + 1)) / i);
  return out;
}

/**
 * Subsets of `k` samples in which the answer `winner` comes `votes` times and no other answer comes more often, each weighted by
 * 1 / (number of answers that come `votes` times).
 */
function weightedWins(
  others: readonly number[],
  winner: number,
  silent: number,
  votes: number,
  k: number,
): number {
  const room = k - votes;
  // ways[ties][chosen] for the answers seen so far.
  let ways: number[][] = [[1, ...new Array<number>(room).fill(0)]];
  for (const count of others) {
    const coefficients = choose(count, Math.min(votes, count));
    const next = Array.from({ length: ways.length + 1 }, () => new Array<number>(room + 1).fill(0));
    for (const [ties, row] of ways.entries())
      for (const [chosen, number] of row.entries()) {
        if (number === 0) continue;
        for (let i = 0; i < coefficients.length && chosen + i <= room; i++) {
          const tied = i === votes ? ties + 1 : ties;
          next[tied]![chosen + i]! += number * coefficients[i]!;
        }
      }
    ways = next;
  }
  const abstentions = choose(silent, room);
  let total = 0;
  for (const [ties, row] of ways.entries())
    for (const [chosen, number] of row.entries())
      total += (number * abstentions[room - chosen]!) / (ties + 1);
  return total * choose(winner, votes)[votes]!;
}

/** More samples than this would overflow the counts of subsets. */
const MOST_SAMPLES = 1000;

/**
 * In [0, 1]. `answers` are the distinct answers; `silent` samples gave none: they take a place among the k and do not vote, and k
 * of them together are wrong. Throws `wrong-input` unless 1 ≤ k ≤ n.
 */
export function majorityAtK(answers: readonly AnswerCount[], silent: number, k: number): number {
  const n = answers.reduce((sum, { count }) => sum + count, silent);
  if (!Number.isInteger(k) || k < 1 || k > n || n > MOST_SAMPLES)
    throw wrongInput('statistics.majority-at-k', `majority@${k} was asked of ${n} samples.`, {
      expected: `a whole number k with 1 ≤ k ≤ n, and n ≤ ${MOST_SAMPLES}`,
      next: 'Draw at least k samples of every question.',
    });
  let wins = 0;
  for (const [i, { count, right }] of answers.entries()) {
    if (!right) continue;
    const others = answers.filter((_, j) => j !== i).map((answer) => answer.count);
    for (let votes = 1; votes <= Math.min(count, k); votes++)
      wins += weightedWins(others, count, silent, votes, k);
  }
  return Math.min(1, wins / choose(n, k)[k]!);
}
