/** What is said of runs that lost something, against summaries written by hand. */
import { expect, test } from 'vitest';
import { collapseSentence } from '../../../cli/start/collapse-warning.ts';
import { closingWords } from '../../../cli/start/run-summary.ts';
import type { MonitorPoint, Summary } from '../../../core/schema/summary.ts';
import { sinceBest, tallyOf } from '../../../core/statistics/change.ts';

/** Of each version other questions are right, as far as that can be. */
function sinceBestOf(
  n: number,
  accuracy: readonly number[],
  sampled: readonly number[] | null,
  judge: Summary['judge'],
): NonNullable<Summary['sinceBest']> {
  const tallies = (shares: readonly (number | null)[]) =>
    shares.map((share, at) =>
      share === null
        ? undefined
        : tallyOf(
            Array.from({ length: n }, (_, i) => (i * [1, 187, 83][at % 3]!) % n < Math.round(share * n)),
          ),
    );
  const of = {
    accuracy: tallies(accuracy),
    sampled: tallies(sampled ?? []),
    judge: tallies(judge.map(({ fixed }) => fixed)),
  };
  return Object.fromEntries(
    (['accuracy', 'sampled', 'judge'] as const).flatMap((figure) => {
      const change = sinceBest(
        of[figure].map((tally) => (tally ? { [figure]: tally } : undefined)),
        figure,
      );
      return change ? [[figure, change]] : [];
    }),
  );
}

/** A run that is evaluated every ten rounds: what its greedy and its sampled answers know; `null` where nothing is sampled. */
const summaryOf = (
  greedy: readonly number[],
  sampled: readonly number[] | null,
  change: Partial<Summary> = {},
  n = 500,
): Summary => ({
  kind: 'summary',
  recipe: 'ttrl',
  seed: 0,
  reward: 'majority',
  freeze: [],
  policy: 'ttrl-0',
  from: 0,
  others: 0,
  rounds: 10 * (greedy.length - 1),
  versions: { solver: 10 },
  heldout: greedy.map((accuracy, i) => ({
    round: 10 * i,
    task: 'arithmetic',
    n,
    accuracy,
    sampled: sampled && sampled[i]!,
    worked: null,
    forcedWorked: null,
  })),
  sinceBest: sinceBestOf(n, greedy, sampled, change.judge ?? []),
  judge: [],
  proposer: [],
  groups: { proposed: 1, admitted: 1, scored: 1, trained: 1, stale: 0, failed: 0 },
  duplicates: 0,
  tokens: { generated: 1, trained: 1 },
  wallMs: 1,
  learnerMs: 1,
  rolloutMs: 1,
  ...change,
});
const said = (...run: Parameters<typeof summaryOf>) => collapseSentence(summaryOf(...run));

/** The entropy of what a round trained, and the parameter set that it was. */
type Watched = readonly [set: string, entropy: number | null];

const monitorsOf = (...rounds: readonly Watched[]): MonitorPoint[] =>
  rounds.map(([set, entropy], i) => ({
    round: i + 1,
    figures: { entropy, gradientNorm: 1, [`${set}/gradientNorm`]: 1 },
  }));

const judged = (...fixed: readonly (number | null)[]): Partial<Summary> => ({
  judge: fixed.map((share, i) => ({ round: 10 * i, fixed: share, own: null })),
});

test('a run that keeps what it has says nothing, nor does one that was evaluated once, or never', () => {
  expect(said([0.34, 0.8, 0.75], [0.4, 0.6, 0.58], judged(0.62, 0.73, 0.66))).toBeNull();
  expect(said([0.34], [0.4])).toBeNull();
  expect(said([], [])).toBeNull();
});

test('sampled accuracy ten points below its best is a collapse, nine are none', () => {
  expect(said([0.5, 0.5, 0.5], [0.46, 0.56, 0.47])).toBeNull();
  expect(said([0.5, 0.5, 0.5], [0.46, 0.56, 0.46])).toBe(
    'The run collapsed: sampled accuracy ended at 46.0 %, 10.0 points below its best.',
  );
});

test('what was lost since the start is lost, too', () => {
  expect(said([0.89, 0.54], [0.52, 0.38])).toBe(
    'The run collapsed: greedy accuracy ended at 54.0 %, 35.0 points below its best; ' +
      'sampled accuracy ended at 38.0 %, 14.0 points below its best.',
  );
});

test('greedy accuracy counts where sampled accuracy sank with it, or where nothing is sampled', () => {
  const greedy = [0.95, 0.9, 0.77];
  const fell = 'accuracy ended at 77.0 %, 18.0 points below its best.';
  // It leaves out its steps, and its samples know more than before.
  expect(said(greedy, [0.59, 0.72, 0.69])).toBeNull();
  expect(said(greedy, [0.59, 0.72, 0.66])).toBe(`The run collapsed: greedy ${fell}`);
  expect(said(greedy, [0.59, 0.6, 0.58])).toBe(`The run collapsed: greedy ${fell}`);
  expect(said(greedy, null)).toBe(`The run collapsed: ${fell}`);
});

test('entropy below half of what it was is named where accuracy was lost, and of like rounds alone', () => {
  const losing = (...rounds: readonly Watched[]) =>
    said([0.84, 0.69], [0.7, 0.64], { monitors: monitorsOf(...rounds) });
  const halved = [0.32, 0.28, 0.1, 0.08].map((entropy) => ['main', entropy] as const);
  // Means of two rounds at either end: .3 and .09.
  expect(losing(...halved)).toBe(
    'The run collapsed: greedy accuracy ended at 69.0 %, 15.0 points below its best; ' +
      'its entropy went from 0.30 to 0.09 nats per token.',
  );
  expect(said([0.84, 0.83], [0.7, 0.72], { monitors: monitorsOf(...halved) })).toBeNull();
  expect(losing(['main', 0.32], ['main', 0.16])).not.toContain('entropy');
  expect(losing(['challenger', 1.4], ['challenger', 1.3], ['main', 0.2], ['main', 0.18])).not.toContain(
    'entropy',
  );
  expect(losing(['main', null], ['main', null])).not.toContain('entropy');
});

test('a judge that got worse by ten points, or worse than chance, is named', () => {
  const judge = (...fixed: readonly (number | null)[]) => said([0.5, 0.5], [0.5, 0.5], judged(...fixed));
  expect(judge(0.64, 0.7, 0.6)).toBe(
    'The run collapsed: the judge’s balanced accuracy on the fixed set ended at 60.0 %, 10.0 points below its best.',
  );
  // Of 500 verdicts six points are within chance, of 5,000 they are not.
  expect(judge(0.54, 0.48)).toBeNull();
  expect(said([0.5, 0.5], [0.5, 0.5], judged(0.54, 0.48), 5000)).toContain(
    'ended at 48.0 %, 6.0 points below its best',
  );
  expect(judge(0.64, 0.56)).toBeNull();
  // It never could tell: nothing collapsed.
  expect(judge(0.46, 0.44)).toBeNull();
  expect(judge(0.46, 0.23)).toBeNull();
  expect(judge(null, 0.44)).toBeNull();
});

test('it stands among the closing words', () => {
  const words = closingWords(summaryOf([0.89, 0.54], [0.52, 0.38])).replaceAll('\n', ' ');
  expect(words).toContain('The run collapsed: greedy accuracy ended at 54.0 %');
  expect(closingWords(summaryOf([0.3, 0.54], [0.3, 0.38]))).not.toContain('collapsed');
});

test('a loss that chance explains is no collapse, of few questions never', () => {
  // 40 of 100 against 26: independent answers differ by as much in one case of 20 (z = 2.1), and the best of three was picked.
  expect(said([0.3, 0.4, 0.26], null, {}, 100)).toBeNull();
  expect(said([0.3, 0.4, 0.26], null, {}, 1000)).toContain('The run collapsed: accuracy ended at 26.0 %');
  expect(said([0, 1, 0], null, {}, 20)).toBeNull();
  expect(said([0.5, 0.5], null, judged(1, 0), 20)).toBeNull();
});
