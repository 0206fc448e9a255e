/** Two runs compared: at which versions, by which words, and up to which version their bytes are the same. Figures are worked by hand. */
import { expect, test } from 'vitest';
import { bytesWords, comparisonLines } from '../../cli/compare/format-comparison.ts';
import { type ComparableRun, compareRuns, type RunPoint } from '../../core/runs/compare-runs.ts';
import { weightsSha256 } from '../../core/schema/policy.ts';
import type { EvaluationReport, RoundReport } from '../../core/schema/report.ts';
import { shareOf, tallyOf } from '../../core/statistics/change.ts';

/** The first `right` of `n` questions are answered rightly, but for `wrong` of them. */
const answers = (n: number, right: number, wrong: readonly number[] = []) =>
  Array.from({ length: n }, (_, i) => i < right && !wrong.includes(i));

const evaluated = (hits: readonly boolean[], questions?: string): EvaluationReport => {
  const accuracy = tallyOf(hits);
  const n = hits.length;
  return {
    version: 0,
    heldOut: {
      n,
      ...(questions ? { questions } : {}),
      accuracy: shareOf(accuracy),
      sampled: null,
      forcedWorked: null,
      worked: null,
      formatRate: null,
    },
    judge: { fixed: null, own: null },
    tallies: { accuracy },
  };
};

/** A round that sampled 100 tokens and trained `trained`. */
const point = (
  round: number,
  evaluation?: EvaluationReport,
  { trained = 100, weights = `w${round}` as string | null } = {},
): RunPoint => ({
  round,
  version: round,
  weights,
  report: {
    ...(round ? { monitors: { tokens: 100 }, training: { tokens: trained } } : {}),
    ...(evaluation ? { evaluation } : {}),
  } as RoundReport,
});

const run = (id: string, points: readonly RunPoint[], recipe = 'grpo'): ComparableRun => ({
  id,
  name: id,
  recipe,
  policy: id,
  parameters: 1000,
  points,
});
const start = (n: number) => point(0, evaluated(answers(n, 10)));
const one = (n: number, hits: readonly boolean[], questions?: string) => (id: string) =>
  run(id, [start(n), point(1, evaluated(hits, questions))]);
const words = (a: ComparableRun, b: ComparableRun) => comparisonLines([a, b], compareRuns(a, b)).join('\n');

test('ten of forty questions that only the second answers are a difference: p = 2 · 2⁻¹⁰', () => {
  const [a, b] = [one(40, answers(40, 20))('a'), one(40, answers(40, 30))('b')];
  const { tokens, flop } = compareRuns(a, b);
  expect(tokens).toMatchObject({
    verdict: 'rose',
    p: 2 ** -9,
    n: [40, 40],
    why: null,
    versions: [{ tokens: 100 }, { tokens: 100 }],
  });
  // Ten ones and thirty zeros: mean 1/4, variance 7.5/39, half of the interval 1.96 · √(7.5/39/40).
  expect(tokens.difference!.mean).toBeCloseTo(0.25, 12);
  expect(tokens.difference!.low).toBeCloseTo(0.25 - 1.959964 * Math.sqrt(7.5 / 39 / 40), 6);
  // 1000 parameters, two for each of 100 sampled tokens and six for each of 100 trained ones.
  expect(flop).toMatchObject({
    verdict: 'rose',
    p: 2 ** -9,
    versions: [{ flop: 800_000 }, { flop: 800_000 }],
  });
  expect(words(a, b)).toContain(
    'B is higher than A: +25.0 points (95 %: +11.4 to +38.6), exact test p = 0.002',
  );
  expect(words(b, a)).toContain('B is lower than A: −25.0 points');
});

test('three against one is chance, and nothing is called higher', () => {
  const [a, b] = [one(40, answers(40, 20))('a'), one(40, answers(40, 23, [0]))('b')];
  expect(compareRuns(a, b).tokens).toMatchObject({ verdict: 'chance', p: 0.625 });
  expect(words(a, b)).toContain('B does not differ from A beyond chance: +5.0 points');
  expect(words(a, b)).not.toMatch(/higher|lower|better/);
});

test('fewer than thirty questions are too few, whatever they say', () => {
  const [a, b] = [one(29, answers(29, 0))('a'), one(29, answers(29, 29))('b')];
  expect(compareRuns(a, b).tokens.verdict).toBe('few');
  expect(words(a, b)).toContain('29 held-out questions are too few to tell the runs apart (30 are needed)');
  expect(words(a, b)).not.toMatch(/higher|lower|points/);
  expect(compareRuns(one(30, answers(30, 0))('a'), one(30, answers(30, 30))('b')).tokens.verdict).toBe(
    'rose',
  );
});

test('the run that goes on longer is taken where both had cost the same within a tenth', () => {
  const hits = evaluated(answers(40, 20));
  const rounds = (...trained: readonly number[]) => [
    start(40),
    ...trained.map((each, i) => point(i + 1, hits, { trained: each })),
  ];
  // 200 + 6 · 100 = 800 a round against 200 + 6 · 112 = 872: 8 % less, after two rounds and after one.
  const [longer, shorter] = [run('a', rounds(100, 100, 100)), run('b', rounds(112, 112))];
  const { tokens, flop } = compareRuns(longer, shorter);
  expect(tokens.versions).toMatchObject([
    { round: 2, tokens: 200 },
    { round: 2, tokens: 200 },
  ]);
  expect(flop.versions).toMatchObject([
    { round: 2, flop: 1_600_000 },
    { round: 2, flop: 1_744_000 },
  ]);
  // 200 + 6 · 130 = 980 after one round, which is over a tenth more than 800.
  const dear = compareRuns(run('a', rounds(100)), run('b', rounds(130)));
  expect(dear.flop).toMatchObject({ verdict: 'untested', difference: null });
  expect(dear.flop.why).toBe('no versions of both with costs within 10 % were evaluated');
  expect(dear.tokens.why).toBeNull();
});

test('two looks at different versions count twice', () => {
  const a = run('a', [
    start(40),
    ...[1, 2, 3].map((i) => point(i, evaluated(answers(40, 20)), { trained: 0 })),
  ]);
  const b = run('b', [start(40), point(1, evaluated(answers(40, 30)), { trained: 34 })]);
  const { tokens, flop } = compareRuns(a, b);
  // 200 a round against 200 + 6 · 34 = 404: FLOP are the same after two rounds and one.
  expect([tokens.versions[0].round, flop.versions[0].round]).toEqual([1, 2]);
  expect([tokens.p, flop.p]).toEqual([2 ** -8, 2 ** -8]);
});

test('other questions are said and never paired; recipes that differ need the hash of theirs', () => {
  const hits = answers(40, 20);
  const [q, other] = ['a'.repeat(64), 'b'.repeat(64)];
  const why = (a: ComparableRun, b: ComparableRun) => compareRuns(a, b).tokens.why;
  const different = 'the runs were evaluated on different held-out questions';
  expect(why(one(40, hits, q)('a'), one(40, hits, other)('b'))).toBe(different);
  expect(why(one(40, hits, q)('a'), one(40, hits)('b'))).toBe(different);
  expect(why(one(40, hits)('a'), one(50, answers(50, 20))('b'))).toBe(different);
  const elsewhere = (questions?: string) => ({ ...one(40, hits, questions)('b'), recipe: 'dapo' });
  expect(why(one(40, hits)('a'), elsewhere())).toMatch(/nothing says that grpo and dapo have the same/);
  expect(why(one(40, hits, q)('a'), elsewhere(q))).toBeNull();
  expect(words(one(40, hits, q)('a'), one(40, hits, other)('b'))).toContain(`not tested: ${different}`);
});

test('a run of which no version was evaluated is refused; one that was evaluated later is not compared by its start', () => {
  const whole = one(40, answers(40, 20))('a');
  expect(() => compareRuns(whole, run('b', [start(40), point(1)]))).toThrow('No version that the run b made');
  const late = run('b', [start(40), point(1), point(2, evaluated(answers(40, 40)))]);
  expect(compareRuns(whole, late).tokens.why).toMatch(/^no versions of both/);
});

test('the bytes are the same up to the version before the first that differs', () => {
  const pair = (same: boolean | null, round: number, other = round) =>
    ({ round, versions: [round, other], same }) as const;
  expect(bytesWords([pair(true, 0), pair(true, 1), pair(false, 2)])).toBe(
    'the same bytes up to version 1; version 2 differs',
  );
  expect(bytesWords([pair(true, 0), pair(true, 1, 4)])).toBe('the same bytes up to versions 1 and 4');
  expect(bytesWords([pair(false, 0, 3)])).toBe('versions 0 and 3 differ');
  expect(bytesWords([pair(true, 0), pair(null, 1)])).toMatch(/up to version 0; version 1 cannot be compared/);
  const hits = evaluated(answers(40, 20));
  const a = run('a', [start(40), point(1, hits), point(2, hits, { weights: 'x' })]);
  const b = run('b', [start(40), point(1, hits), point(2, hits, { weights: 'y' })]);
  expect(words(a, b)).toContain('Weights: the same bytes up to version 1; version 2 differs');
});

test('weights are told by their files and not by optimisers, texts or the audit', () => {
  const file = (digit: string) => ({ sha256: digit.repeat(64), bytes: 1 });
  const files = {
    'config.json': file('0'),
    'model.safetensors': file('1'),
    'optimizer.safetensors': file('2'),
  };
  expect(weightsSha256({ files })).toBe('1'.repeat(64));
  const other = { ...files, 'optimizer.safetensors': file('3'), 'value.optimizer.safetensors': file('4') };
  expect(weightsSha256({ files: other })).toBe('1'.repeat(64));
  const adapted = (digit: string) =>
    weightsSha256({ files: { ...files, 'main.adapter.safetensors': file(digit) } });
  expect(adapted('5')).not.toBe(adapted('6'));
});

test('the best temperature of each run stands beside its accuracy, and that of its start before training', () => {
  const asked = (right: number, figures: Record<string, number>): EvaluationReport => ({
    ...evaluated(answers(40, right)),
    figures,
  });
  const before = { 'sampledAt.0': 0.25, 'sampledAt.0.6': 0.4, 'passAt.0.6': 0.9 };
  const after = { 'sampledAt.0': 0.5, 'sampledAt.0.6': 0.45 };
  const a = run('a', [point(0, asked(10, before)), point(1, asked(20, after))]);
  const text = words(a, one(40, answers(40, 30))('b'));
  expect(text).toContain('A  before training: 40.0 % at its best, temperature 0.6');
  expect(text).toMatch(
    /A {2}after round 1 .*: 50\.0 % on 40 held-out questions; 50\.0 % at its best, greedy\n/,
  );
  expect(text).not.toMatch(/B .*at its best/);
});
