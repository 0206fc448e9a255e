import { expect, test } from 'vitest';
import { closingWords as wrappedWords } from '../../../cli/start/closing-words.ts';
import { costOf } from '../../../core/cost/cost.ts';
import { NOTHING_USED } from '../../../core/cost/usage.ts';
import type { Summary } from '../../../core/schema/summary.ts';

type Figures = readonly [round: number, accuracy: number, sampled: number, worked: number, forced: number];

/** A run of 40 rounds over 500 tasks: 2 standard errors of a difference near one half are 6.3 points. */
function summaryOf(heldout: readonly Figures[], change: Partial<Summary> = {}): Summary {
  return {
    kind: 'summary',
    recipe: 'trio',
    seed: 0,
    reward: 'mix',
    freeze: [],
    policy: 'seed-arithmetic',
    from: 0,
    others: 0,
    rounds: 40,
    versions: { proposer: 40, solver: 40, judge: 40 },
    heldout: heldout.map(([round, accuracy, sampled, worked, forcedWorked]) => ({
      round,
      task: 'arithmetic',
      n: 500,
      accuracy,
      sampled,
      worked,
      forcedWorked,
    })),
    judge: [
      { round: 0, fixed: 0.62, own: 0.61 },
      { round: 40, fixed: 0.73, own: 0.7 },
    ],
    proposer: Array.from({ length: 40 }, (_, i) => ({
      round: i + 1,
      difficulty: i < 5 ? 2.5 : i >= 35 ? 3.9 : 3,
      passRate: 0.49,
    })),
    groups: { proposed: 3200, admitted: 2560, scored: 2560, trained: 2560, stale: 0, failed: 0 },
    duplicates: 0,
    tokens: { generated: 1, trained: 1 },
    wallMs: 1,
    learnerMs: 1,
    rolloutMs: 1,
    ...change,
  };
}
/** The words with their lines joined, so that a test does not depend on where they break. */
const closingWords = (summary: Summary) => wrappedWords(summary).replaceAll(/(?<=\S)\n(?=\S)/g, ' ');

test('what to do next carries the flags with which it finds the policy', () => {
  const words = wrappedWords(summaryOf([[0, 0.3, 0.3, 0.4, 0.7]]), ' --state elsewhere');
  expect(words).toMatch(/policy -- eval \S+ \d+ --tasks FILE --state elsewhere$/m);
  expect(words).toMatch(/policy -- export \S+ \d+ DIR --state elsewhere$/m);
});

const first: Figures = [0, 0.342, 0.36, 0.44, 0.704];

test('a change of strategy is not sold as arithmetic', () => {
  expect(closingWords(summaryOf([first, [40, 0.714, 0.502, 0.91, 0.708]]))).toBe(
    [
      'After 40 rounds, greedy accuracy on 500 held-out arithmetic tasks rose from 34.2 % to 71.4 % (+37.2 points) and sampled accuracy rose from 36.0 % to 50.2 % (+14.2 points); ' +
        'the share of greedy answers with written steps rose from 44.0 % to 91.0 % (+47.0 points) and accuracy when forced to write them did not change significantly (70.4 % to 70.8 %, +0.4 points), ' +
        'so the gain is mostly the choice to write steps, which it could do before, not better arithmetic. ' +
        'The judge went from 62.0 % to 73.0 % (+11.0 points) in balanced accuracy on the fixed set; the proposer wrote tasks of difficulty 2.50 at first and 3.90 at last (49 % solved).',
      '',
      'Next:',
      '  npm run policy -- eval seed-arithmetic 40 --tasks FILE',
      '  npm run policy -- export seed-arithmetic 40 DIR',
      '  (FILE has one JSON object per line: {"question": "…", "answer": "…"})',
    ].join('\n'),
  );
});

test('what is said follows the figures', () => {
  const said = (...end: Figures) => closingWords(summaryOf([first, end]));
  expect(said(40, 0.8, 0.7, 0.91, 0.82)).toContain(
    'so it writes its steps more often and gets them right more often.',
  );
  expect(said(40, 0.45, 0.45, 0.45, 0.82)).toContain('so its arithmetic got better.');
  expect(said(40, 0.5, 0.5, 0.44, 0.7)).toContain('in answers without steps');
  expect(said(40, 0.33, 0.35, 0.44, 0.69)).toContain('so these tasks show no learning');
  expect(said(40, 0.33, 0.5, 0.44, 0.69)).toContain(
    'so it became surer of what its likeliest answers knew before.',
  );
  expect(said(40, 0.33, 0.2, 0.44, 0.69)).toContain('so it became less sure of what');
  expect(said(40, 0.33, 0.35, 0.44, 0.5)).toContain('so arithmetic was lost.');
  expect(said(40, 0.34, 0.35, 0.44, 0.8)).toContain('better where it writes its steps');
  expect(said(40, 0.2, 0.3, 0.1, 0.7)).toContain('the choice to leave out steps');
});

test('a run that continues a trained policy says so, and what other runs did meanwhile', () => {
  const words = closingWords(summaryOf([first, [40, 0.714, 0.502, 0.91, 0.708]], { from: 7, others: 2 }));
  expect(words).toContain('After 40 rounds from version 7, greedy accuracy');
  expect(words).toContain('Other runs made 2 versions of seed-arithmetic between the rounds of this one');
  expect(closingWords(summaryOf([[0, 0.3, 0.3, 0.4, 0.7]], { from: 7 }))).toContain(
    'Version 7 answers 30.0 %',
  );
  expect(closingWords(summaryOf([first]))).not.toContain('Other runs');
});

test('a judge that moved by no more than chance is said not to have changed', () => {
  // Two standard errors of a difference near 0.62 are 6.1 points at 500.
  const judge = (fixed: number) => [
    { round: 0, fixed: 0.62, own: null },
    { round: 40, fixed, own: null },
  ];
  const said = (fixed: number) =>
    closingWords(summaryOf([first, [40, 0.4, 0.4, 0.5, 0.7]], { judge: judge(fixed) }));
  expect(said(0.65)).toContain(
    'The judge did not change significantly (62.0 % to 65.0 %, +3.0 points) in balanced accuracy on the fixed set',
  );
  expect(said(0.69)).toContain('The judge went from 62.0 % to 69.0 % (+7.0 points) in balanced accuracy');
});

test('chance is judged at two standard errors of the difference', () => {
  // p = .5 and .56, n = 500: error = sqrt((.25 + .2464) / 500) = .0315, twice that = .063
  const half: Figures = [0, 0.5, 0.5, 0.5, 0.5];
  expect(closingWords(summaryOf([half, [40, 0.56, 0.5, 0.5, 0.5]]))).toContain(
    'did not change significantly (50.0 % to 56.0 %',
  );
  expect(closingWords(summaryOf([half, [40, 0.566, 0.5, 0.5, 0.5]]))).toContain('rose from 50.0 % to 56.6 %');
});

test('a run that ends well below its best says so', () => {
  const words = closingWords(summaryOf([first, [20, 0.74, 0.5, 0.9, 0.7], [40, 0.6, 0.48, 0.9, 0.7]]));
  expect(words).toContain('It was at its best, 74.0 %, after round 20.');
  expect(closingWords(summaryOf([first, [20, 0.74, 0.5, 0.9, 0.7], [40, 0.7, 0.5, 0.9, 0.7]]))).not.toContain(
    'at its best',
  );
});

test('missing figures are called missing', () => {
  const words = closingWords(
    summaryOf([], { judge: [], proposer: [{ round: 1, difficulty: null, passRate: null }], rounds: 1 }),
  );
  expect(words).toContain('No version was evaluated');
  expect(words).toContain('could not be measured on the fixed set');
  expect(words).toContain('wrote no tasks that could be rated');
  expect(words).not.toMatch(/NaN|null|undefined|–/);
  expect(closingWords(summaryOf([first], { rounds: 0 }))).toContain('no later version was evaluated');
});

test('a frozen partner is named, and the newest version is the one to look at', () => {
  const words = closingWords(
    summaryOf([first, [40, 0.34, 0.34, 0.44, 0.7]], {
      freeze: ['judge'],
      versions: { proposer: 40, solver: 40, judge: 0 },
    }),
  );
  expect(words).toContain('The judge, frozen, went from');
  expect(words).toContain('eval seed-arithmetic 40');
});

test('a difficulty that stays is said once, and no line is wider than 100 columns', () => {
  const summary = summaryOf([first, [40, 0.714, 0.502, 0.91, 0.708]], {
    proposer: [
      { round: 1, difficulty: 2.5, passRate: 0.5 },
      { round: 2, difficulty: 2.5, passRate: 0.6 },
    ],
  });
  expect(closingWords(summary)).toContain('difficulty 2.50 throughout (60 % solved)');
  const lines = wrappedWords(summary).split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(lines.length).toBeGreaterThan(8);
  for (const line of lines) expect(line).not.toMatch(/^%/);
});

test('what the platform would take is said by round, by tokens and by point', () => {
  const cost = {
    pricesOf: '2026-11-21',
    used: NOTHING_USED,
    cost: { ...costOf(NOTHING_USED), total: 0.09 },
    perRound: 0.00228,
    perMillionTokens: 0.274,
    perPoint: 0.00242,
  };
  const summary = (more: object) =>
    summaryOf([first, [40, 0.714, 0.502, 0.91, 0.708]], { cost: { ...cost, ...more } });
  expect(closingWords(summary({}))).toContain(
    'On Cloudflare, at the prices of 2026-11-21 and without the learner’s machine, it would cost $0.090: ' +
      '$0.0023 per round, $0.27 per million generated tokens, $0.0024 per point of held-out accuracy.',
  );
  expect(closingWords(summary({ perPoint: null }))).not.toContain('per point');
  // A point of a change that may be chance has no price.
  const chance = summaryOf([first, [40, 0.35, 0.36, 0.44, 0.704]], { cost });
  expect(closingWords(chance)).not.toContain('per point');
  expect(closingWords(summaryOf([first]))).not.toContain('Cloudflare');
});

test('what has no sampled accuracy is not called accuracy: a fine-tuning run is measured by likelihood', () => {
  const at = (round: number, accuracy: number) =>
    ({ round, task: 'f.jsonl', n: 500, accuracy, sampled: null, worked: null, forcedWorked: null }) as const;
  expect(closingWords(summaryOf([], { heldout: [at(0, 0.2), at(40, 0.4)] }))).toContain(
    'After 40 rounds, the main score on 500 held-out f.jsonl tasks rose from 20.0 % to 40.0 %',
  );
});

test('sampled accuracy is told beside greedy accuracy, also of answers whose steps nobody counts', () => {
  const at = (round: number, accuracy: number, sampled: number) =>
    ({ round, task: 'f.jsonl', n: 500, accuracy, sampled, worked: null, forcedWorked: null }) as const;
  expect(closingWords(summaryOf([], { heldout: [at(0, 0.4, 0.6), at(40, 0.9, 0.61)] }))).toContain(
    'greedy accuracy on 500 held-out f.jsonl tasks rose from 40.0 % to 90.0 % (+50.0 points) and sampled accuracy ' +
      'did not change significantly (60.0 % to 61.0 %, +1.0 points).',
  );
});
