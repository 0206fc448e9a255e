import { expect, test } from 'vitest';
import { closingWords as wrappedWords } from '../../../cli/start/run-summary.ts';
import { costOf } from '../../../core/cost/cost.ts';
import { NOTHING_USED } from '../../../core/cost/usage.ts';
import { evaluation } from '../../../core/schema/evaluation.ts';
import type { Summary } from '../../../core/schema/summary.ts';
import { changesOf, sinceBest, tallyOf } from '../../../core/statistics/change.ts';

type Figures = readonly [round: number, accuracy: number, sampled: number, worked: number, forced: number];

const JUDGED = [
  { round: 0, fixed: 0.62, own: 0.61 },
  { round: 40, fixed: 0.73, own: 0.7 },
];
const N = 500;
/** A share of N questions: the first ones are right at the start, and later ones that have nothing to do with them. */
const tally = (share: number, later: boolean) =>
  tallyOf(Array.from({ length: N }, (_, i) => (later ? (i * 187) % N : i) < Math.round(share * N)));
const talliesOf = ([round, accuracy, sampled, worked, forced]: Figures, judge?: number) => ({
  accuracy: tally(accuracy, round > 0),
  sampled: tally(sampled, round > 0),
  worked: tally(worked, round > 0),
  forcedWorked: tally(forced, round > 0),
  ...(judge === undefined ? {} : { judge: tally(judge, round > 0) }),
});

/** A run of 40 rounds over 500 tasks. */
function summaryOf(heldout: readonly Figures[], change: Partial<Summary> = {}): Summary {
  const judged = (change.judge ?? JUDGED).map(({ fixed }) => fixed ?? undefined);
  const tallies = heldout.map((point, i) => talliesOf(point, judged[i && judged.length - 1]));
  const points = heldout.map(([, accuracy, sampled, worked, forcedWorked], i) => {
    const figures = { n: N, accuracy, sampled, worked, forcedWorked, tallies: tallies[i]! };
    return evaluation(figures, {}, { fixed: judged[i && judged.length - 1] ?? null });
  });
  const best = sinceBest(tallies, 'accuracy');
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
    heldout: heldout.map(([round, accuracy, sampled, worked, forcedWorked], i) => ({
      round,
      task: 'arithmetic',
      version: round + (change.from ?? 0),
      n: N,
      accuracy,
      sampled,
      worked,
      forcedWorked,
      ...(i ? { changes: changesOf(points[0]!, points[i]!) } : {}),
    })),
    ...(best ? { sinceBest: { accuracy: best } } : {}),
    judge: JUDGED,
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
  expect(words).toMatch(/policy eval \S+ \d+ --tasks FILE --state elsewhere$/m);
  expect(words).toMatch(/policy export \S+ \d+ DIR --state elsewhere$/m);
});

const first: Figures = [0, 0.342, 0.36, 0.44, 0.704];

test('a change of strategy is not sold as arithmetic', () => {
  expect(closingWords(summaryOf([first, [40, 0.714, 0.502, 0.91, 0.708]]))).toBe(
    [
      'After 40 rounds, greedy accuracy on 500 held-out arithmetic tasks rose from 34.2 % to 71.4 % (+37.2 points, p < 0.001) and sampled accuracy rose from 36.0 % to 50.2 % (+14.2 points, p < 0.001); ' +
        'the share of greedy answers with written steps rose from 44.0 % to 91.0 % (+47.0 points, p < 0.001) and accuracy when forced to write them did not change beyond chance (70.4 % to 70.8 %, +0.4 points, p = 0.945), ' +
        'so the gain is mostly the choice to write steps, which it could do before, not better arithmetic. ' +
        'The judge rose from 62.0 % to 73.0 % (+11.0 points, p < 0.001) in balanced accuracy on the fixed set; the proposer wrote tasks of difficulty 2.50 at first and 3.90 at last (49 % solved).',
      '',
      'Next:',
      '  npx rollmesh policy eval seed-arithmetic 40 --tasks FILE',
      '  npx rollmesh policy export seed-arithmetic 40 DIR',
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
  expect(said(40, 0.33, 0.35, 0.44, 0.69)).toContain('so there is no measurable improvement on these tasks');
  expect(said(40, 0.33, 0.5, 0.44, 0.69)).toContain('so sampling got closer to greedy: no new skill.');
  expect(said(40, 0.33, 0.2, 0.44, 0.69)).toContain('so sampling got further from greedy: no skill was lost');
  expect(said(40, 0.33, 0.35, 0.44, 0.5)).toContain('so arithmetic was lost.');
  expect(said(40, 0.34, 0.35, 0.44, 0.8)).toContain('better where it writes its steps');
  expect(said(40, 0.2, 0.3, 0.1, 0.7)).toContain('the choice to leave out steps');
  expect(said(40, 0.2, 0.35, 0.44, 0.7)).toContain('so the loss is not in worked arithmetic.');
});

test('none of it is said of few questions, however much they changed', () => {
  const all = { of: 1, points: '1'.repeat(20) };
  const none = { of: 1, points: '0'.repeat(20) };
  const at = (share: 0 | 1) => {
    const of = share ? all : none;
    const tallies = { accuracy: of, sampled: of, worked: of, forcedWorked: of, judge: of };
    const figures = { n: 20, accuracy: share, sampled: share, worked: share, forcedWorked: share, tallies };
    return evaluation(figures, {}, { fixed: share });
  };
  for (const [before, after] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const changes = changesOf(at(before), at(after));
    expect(changes.accuracy).toMatchObject({ verdict: 'few' });
    const summary = summaryOf([first, [40, after, after, after, after]]);
    const heldout = summary.heldout.map((point, i) => ({ ...point, n: 20, ...(i ? { changes } : {}) }));
    const words = closingWords({ ...summary, heldout, sinceBest: {} });
    expect(words).toContain('20 held-out questions are too few to tell');
    expect(words).not.toMatch(
      /\brose|\bfell|better|worse|improve|so the|so it|at its best|per point|collapsed/,
    );
  }
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
  const judge = (fixed: number) => [
    { round: 0, fixed: 0.62, own: null },
    { round: 40, fixed, own: null },
  ];
  const said = (fixed: number) =>
    closingWords(summaryOf([first, [40, 0.4, 0.4, 0.5, 0.7]], { judge: judge(fixed) }));
  expect(said(0.65)).toMatch(
    /The judge did not change beyond chance \(62.0 % to 65.0 %, \+3.0 points, p = 0\.\d+\) in balanced accuracy on the fixed set/,
  );
  expect(said(0.7)).toMatch(
    /The judge rose from 62.0 % to 70.0 % \(\+8.0 points, p = 0\.\d+\) in balanced accuracy/,
  );
});

test('what is said to have risen or fallen is what the exact paired test finds, of few questions nothing', () => {
  /** Of n questions `before` are right at the start and `after` at the end, those at the start among them. */
  const said = (n: number, before: number, after: number) => {
    const share = (k: number) => tallyOf(Array.from({ length: n }, (_, i) => i < k));
    const point = (round: number, k: number) =>
      ({
        round,
        version: round,
        task: 'f.jsonl',
        n,
        accuracy: k / n,
        sampled: null,
        worked: null,
        forcedWorked: null,
      }) as const;
    const examined = (k: number) => evaluation({ n, accuracy: k / n, tallies: { accuracy: share(k) } });
    const changes = changesOf(examined(before), examined(after));
    const end = { ...point(40, after), changes };
    return closingWords(summaryOf([], { heldout: [point(0, before), end] }));
  };
  // 5 of 5 questions that changed: p = 2 · 2⁻⁵; 6 of 6: p = 2 · 2⁻⁶.
  expect(said(500, 250, 255)).toContain(
    'did not change beyond chance (50.0 % to 51.0 %, +1.0 points, p = 0.063)',
  );
  expect(said(500, 250, 256)).toContain('rose from 50.0 % to 51.2 % (+1.2 points, p = 0.031)');
  expect(said(500, 256, 250)).toContain('fell from 51.2 % to 50.0 % (−1.2 points, p = 0.031)');
  for (const [before, after] of [
    [1, 3],
    [3, 0],
  ] as const) {
    const words = said(3, before, after);
    expect(words).toContain('3 held-out questions are too few to tell a change from chance (30 are needed).');
    expect(words).not.toMatch(/rose|fell|better|worse|significant|collapsed/);
  }
});

test('four figures are looked at together: one that chance moves in a run of five is given no meaning', () => {
  // 0.704 to 0.77 of 500 alone would count (p = 0.02), and not as one of four.
  const words = closingWords(summaryOf([first, [40, 0.33, 0.35, 0.44, 0.77]]));
  expect(words).toMatch(
    /forced to write them rose from 70.4 % to 77.0 % \(\+6.6 points, p = 0\.0[1-4]\d\)\./,
  );
  expect(words).not.toMatch(/better|so /);
});

test('the version that was evaluated is named where it is not the last one', () => {
  const words = closingWords(summaryOf([first, [5, 0.714, 0.502, 0.91, 0.708]], { rounds: 6 }));
  expect(words).toContain('After round 5 of 6, the last that was evaluated, greedy accuracy on 500');
  const heldout = summaryOf([first, [5, 0.714, 0.502, 0.91, 0.708]]).heldout.map((point, i) =>
    i ? { ...point, version: 9 } : point,
  );
  expect(closingWords(summaryOf([], { rounds: 6, heldout }))).toContain(
    'After round 5 of 6, the last that was evaluated (version 9), greedy',
  );
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
  expect(closingWords(summaryOf([first], { rounds: 0 }))).toContain('no other version was evaluated');
});

test('a frozen partner is named, and the newest version is the one to look at', () => {
  const words = closingWords(
    summaryOf([first, [40, 0.34, 0.34, 0.44, 0.7]], {
      freeze: ['judge'],
      versions: { proposer: 40, solver: 40, judge: 0 },
    }),
  );
  expect(words).toContain('The judge, frozen, rose from');
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
    'After 40 rounds, the main score on 500 held-out f.jsonl tasks went from 20.0 % to 40.0 % (+20.0 points, not tested against chance)',
  );
});

test('what the judge is measured in stands beside its numbers, before why nothing is said of them', () => {
  const changes = { judge: { verdict: 'few', p: null } } as const;
  const summary = summaryOf([first, [40, 0.35, 0.36, 0.44, 0.704]]);
  const [start, end] = summary.heldout;
  expect(closingWords({ ...summary, heldout: [start!, { ...end!, n: 6, changes }] })).toContain(
    'The judge went from 62.0 % to 73.0 % in balanced accuracy on the fixed set, and 6 held-out questions are too few',
  );
});

test('sampled accuracy is told beside greedy accuracy, also of answers whose steps nobody counts', () => {
  const at = (round: number, accuracy: number, sampled: number) =>
    ({ round, task: 'f.jsonl', n: 500, accuracy, sampled, worked: null, forcedWorked: null }) as const;
  expect(closingWords(summaryOf([], { heldout: [at(0, 0.4, 0.6), at(40, 0.9, 0.61)] }))).toContain(
    'greedy accuracy on 500 held-out f.jsonl tasks went from 40.0 % to 90.0 % (+50.0 points, not tested against chance) and sampled accuracy ' +
      'went from 60.0 % to 61.0 % (+1.0 points, not tested against chance).',
  );
});
