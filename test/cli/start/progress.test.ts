import { expect, test } from 'vitest';
import { painted, paintFor, plain } from '../../../cli/shared/colour.ts';
import { duration, percent, points, whole } from '../../../cli/shared/figures.ts';
import { wrap } from '../../../cli/shared/wrap.ts';
import {
  columnsHelp,
  explainStart,
  generationRate,
  heading,
  klToStart,
  roundLines,
  startLine,
} from '../../../cli/start/progress.ts';
import type { EvaluationReport, RoundMonitors, TrainingReport } from '../../../core/schema/report.ts';
import type { RoundLine } from '../../../core/schema/summary.ts';

const monitors: RoundMonitors = {
  groups: 64,
  rollouts: 512,
  reward: 0.523,
  gold: 0.49,
  gap: 0.033,
  formatRate: 1,
  workedShare: 0.61,
  length: 12.5,
  zeroVariance: 0.1,
  missingRewards: 0,
  proposals: 80,
  invalidRate: 0.05,
  duplicateRate: 0.1,
  difficulty: 2.55,
  passRate: 0.47,
  judge: { rightAsRight: 200, rightAsWrong: 50, wrongAsRight: 80, wrongAsWrong: 182, void: 0 },
  judgeBalancedAccuracy: 0.71,
  tokens: 9000,
};
const role = { samples: 10, entropy: 0.4 };
const training: TrainingReport = {
  roles: {
    proposer: { ...role, tokens: 100, klToStart: 0.1 },
    solver: { ...role, tokens: 300, klToStart: 0.02 },
  },
  tokens: 16000,
  updates: 4,
  loss: 0.01,
  gradientNorm: 0.8,
  clipFraction: 0.01,
  learningRate: 1e-4,
  mismatch: { max: 1e-5, mean: 1e-6, kl: 1e-9 },
  ratio: { min: 0.99, max: 1.01, effectiveSampleShare: 1 },
};
const evaluation = (accuracy: number): EvaluationReport => ({
  version: 5,
  heldOut: { n: 500, accuracy, sampled: 0.36, forcedWorked: 0.704, worked: 0.44, formatRate: 1 },
  judge: { fixed: 0.62, own: null },
});
const line: RoundLine = {
  kind: 'round',
  round: 5,
  from: 4,
  to: 5,
  groups: { proposed: 80, admitted: 64, scored: 64, trained: 64, stale: 0, failed: 0 },
  report: { monitors, training, rolloutMs: 2000, learnerMs: 900, evaluation: evaluation(0.524) },
  wallMs: 3100,
};
const progress = { rounds: 40, start: evaluation(0.342) };

test('a line has the round, its bar and every figure by hand', () => {
  // 9000 tokens in 2 s; 64 of 80 admitted; (0.1 × 100 + 0.02 × 300) / 400 = 0.04; 52.4 − 34.2 = 18.2
  const report = { ...line.report, figures: { 'heldOut.success': 0.75 } };
  const words = roundLines({ ...line, report }, progress)[0]!.split(/\s+/);
  expect(words).toEqual(
    ' 5/40 █▎········ 4 500 80 % 0.52 0.71 0.47 2.55 61 % 52.4 % +18.2 75 % 0.040 0 3.1 s'.split(/\s+/),
  );
});

test('titles stand over their columns', () => {
  const title = heading(progress);
  const row = roundLines(line, progress)[0]!;
  expect(row.length).toBe(title.length);
  for (const [name, value] of [
    ['tok/s', '4 500'],
    ['worked', '61 %'],
    ['held-out', '+18.2'],
    ['KL', '0.040'],
  ] as const)
    expect(row.indexOf(value) + value.length, name).toBe(title.indexOf(name) + name.length);
});

test('a round without figures prints dashes, not zeros, and no held-out accuracy', () => {
  const bare: RoundLine = {
    ...line,
    groups: { proposed: 0, admitted: 0, scored: 0, trained: 0, stale: 0, failed: 0 },
    report: {},
  };
  const [row] = roundLines(bare, progress);
  expect(row!.match(/–/g)).toHaveLength(9);
  expect(row).not.toContain('%');
  expect(row).not.toContain('NaN');
});

test('a share of written steps is left out of tasks without steps to count, and no other', () => {
  const cellOf = (workedShare: number | null) => {
    const report = { ...line.report, monitors: { ...monitors, workedShare } };
    return roundLines({ ...line, report }, progress)[0]!;
  };
  expect(cellOf(0.61)).toContain('61 %');
  expect(cellOf(0)).toMatch(/ 0 %/);
  expect(cellOf(null)).not.toMatch(/ 0 %/);
});

test('every line fits in 120 columns, the widest figures and long warnings included', () => {
  const wide: RoundLine = {
    ...line,
    round: 1000,
    groups: { ...line.groups, stale: 4096, failed: 2 },
    report: {
      ...line.report,
      evaluation: evaluation(0),
      monitors: { ...monitors, tokens: 99_999_000, workedShare: 1, reward: -0.523 },
      rolloutMs: 100_000,
      warnings: ['only 12 % of the rollouts keep to the grammar '.repeat(6).trim(), 'short'],
    },
    wallMs: 3_599_000,
  };
  const lines = roundLines(wide, { ...progress, rounds: 1000 });
  expect(lines.length).toBeGreaterThan(4);
  for (const text of lines) expect(text.length).toBeLessThanOrEqual(120);
  expect(lines.at(-1)).toBe('  ! 2 groups failed and are missing data');
  expect(lines.at(-2)).toBe('  ! short');
});

test('the heading comes first, and again every twenty rounds', () => {
  const lengths = [1, 2, 20, 21, 41].map((round) => roundLines({ ...line, round }, progress).length);
  expect(lengths).toEqual([2, 1, 1, 2, 2]);
  expect(roundLines({ ...line, round: 7 }, { ...progress, first: true })[0]).toBe(heading(progress));
});

test('a wrapped text keeps its words and its percentages whole', () => {
  expect(wrap('a share of 34 % or so', 12)).toEqual(['a share of', '34 % or so']);
  expect(wrap('it is 34 % of', 8)).toEqual(['it is', '34 % of']);
  expect(wrap('unbreakably long', 4)).toEqual(['unbreakably', 'long']);
});

test('colour changes nothing but the escapes', () => {
  const coloured = roundLines(line, { ...progress, paint: painted });
  expect(coloured[0]).toContain('\u001b[32m');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes are what is looked for
  const stripped = coloured.map((text) => text.replaceAll(/\u001b\[\d+m/g, ''));
  expect(stripped).toEqual(roundLines(line, progress));
});

test('colour only where somebody looks', () => {
  expect(paintFor({ isTTY: true }, {})).toBe(painted);
  expect(paintFor({ isTTY: true }, { NO_COLOR: '1' })).toBe(plain);
  expect(paintFor({ isTTY: true }, { TERM: 'dumb' })).toBe(plain);
  expect(paintFor({}, {})).toBe(plain);
});

test('rates are null where there is nothing to divide by', () => {
  expect(generationRate({})).toBeNull();
  expect(generationRate({ monitors, rolloutMs: 0 })).toBeNull();
  expect(klToStart({})).toBeNull();
});

test('figures: percent, signed points, thousands, time', () => {
  expect([percent(0.3416, 1), percent(null), percent(Number.NaN)]).toEqual(['34.2 %', '–', '–']);
  expect([points(0.1824), points(-0.01), points(0.0001), points(undefined)]).toEqual([
    '+18.2',
    '−1.0',
    '±0.0',
    '–',
  ]);
  expect([whole(999), whole(1234567), whole(null)]).toEqual(['999', '1 234 567', '–']);
  expect([duration(840), duration(9_949), duration(9_950), duration(59_600), duration(187_000)]).toEqual([
    '0.8 s',
    '9.9 s',
    '10 s',
    '1:00 min',
    '3:07 min',
  ]);
});

test('the start says what is running and where the page is', () => {
  const settings = {
    recipe: 'trio',
    seed: 2,
    policy: 'seed',
    rewardFunction: 'judge',
    freeze: ['judge'],
    tasks: 64,
    groupSize: 8,
  };
  expect(
    explainStart({ settings, rounds: 40, page: 'http://localhost:8787/', device: 'CPU', done: 3 }),
  ).toEqual([
    'trio trains seed: 40 rounds of 64 tasks × 8 solutions, reward judge, seed 2, frozen: judge',
    'resuming after round 3',
    'learner: CPU',
    'watch it at http://localhost:8787/',
  ]);
  expect(explainStart({ settings, rounds: 40, device: 'CPU', from: 4 })[1]).toBe(
    'seed is at version 4, trained before this run: the run continues from there and measures its change from there',
  );
  expect(explainStart({ settings, rounds: 40, device: 'auto' })[1]).toBe('learner: timing devices …');
  expect(explainStart({ settings, rounds: 40, device: 'CPU' })[2]).toBe('no page: all in this process');
  expect(startLine(evaluation(0.342)).length).toBeLessThanOrEqual(120);
  expect(startLine(evaluation(0.342))).toBe(
    'version 5 on 500 held-out tasks: 34.2 % greedy, 36.0 % sampled, 70.4 % with steps forced, 44 % worked, judge 0.62',
  );
});

test('every column of a round’s line is explained at the end of --help', () => {
  const titles = heading({ rounds: 40, start: null }).trim().split(/ +/).slice(1);
  expect(titles).toHaveLength(12);
  const explained = columnsHelp().split('\n').slice(1);
  expect(explained.map((line) => line.trim().split(/ +/)[0])).toEqual(titles);
  for (const line of explained) expect(line).toMatch(/^ {2}\S+ {2,}\S+ .{10,}$/);
});
