/** Analyses of chains of sums: their grammar, and the oracle's word on them, worked by hand; and what their warm start is shown. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import {
  type Analysis,
  analysedProofs,
  analysisParts,
  exactAnalysis,
  exactMetaVerdict,
  exactSums,
  metaPrompt,
  PROOF_TOKENS,
  parseAnalysedProof,
  parseAnalysis,
  parseMetaVerdict,
  type Score,
  writeAnalysedProof,
  writeAnalysis,
  writeMetaVerdict,
  wrongLines,
} from '../../worlds/chains/analysis.ts';
import { demonstrateAnalyses } from '../../worlds/chains/analysis-demonstrations.ts';
import { chains } from '../../worlds/chains/family.ts';

/** 3 + 4 = 7, 7 - 9 = -2, -2 + 5 = 3, 3 + 1 = 4. */
const task = '3+4-9+5+1';
const proof = (...steps: string[]) => ({ steps, answer: steps.at(-1)! });
const sound = proof('7', '-2', '3', '4');
/** -3 stands for -2, and what follows is carried on rightly. */
const gap = proof('7', '-3', '2', '3');
/** 9 stands for 3, too. */
const flawed = proof('7', '-3', '2', '9');

test('wrong lines, and the score that they justify', () => {
  expect([sound, gap, flawed].map((it) => wrongLines(task, it))).toEqual([[], [2], [2, 4]]);
  expect([sound, gap, flawed].map((it) => exactAnalysis(task, it).score)).toEqual([1, 0.5, 0]);
  expect(exactSums(task, flawed)).toEqual(['7', '-2', '2', '3']);
});

test.each<[Analysis, boolean[], Score]>([
  [{ issues: [2, 4], score: 0 }, [true, true], 1],
  [{ issues: [1, 4], score: 0 }, [false, true], 0.5],
  [{ issues: [1, 3], score: 0 }, [false, false], 0],
  // It misses an issue, which is no matter of its quality.
  [{ issues: [4], score: 0.5 }, [true], 1],
  [{ issues: [], score: 1 }, [], 1],
  // The issues are real, and the score is not theirs.
  [{ issues: [2, 4], score: 0.5 }, [true, true], 0],
  [{ issues: [], score: 0 }, [], 0],
])('the quality of %j on a proof whose lines 2 and 4 are wrong', (analysis, marks, score) => {
  expect(exactMetaVerdict(task, flawed, analysis)).toEqual({ marks, score });
});

const SUMS = '<step>7=<step>-2!-3<step>2=<step>3!9';

test('written and read', () => {
  const analysis: Analysis = { issues: [2, 4], score: 0 };
  const found = exactSums(task, flawed);
  expect(writeAnalysis(flawed, found, analysis)).toBe(`${SUMS}<sep><bad>2<bad>4:0<eos>`);
  expect(parseAnalysis(flawed, `${SUMS}<sep><bad>2<bad>4:0<eos>`)).toEqual({ ok: true, value: analysis });
  // What is reported need not be what the sums found.
  expect(parseAnalysis(flawed, `${SUMS}<sep>:1<eos>`)).toEqual({ ok: true, value: { issues: [], score: 1 } });
  const verdict = { marks: [true, false], score: 0.5 as const };
  expect(writeMetaVerdict(flawed, found, verdict)).toBe(`${SUMS}<sep><ok><bad>:.5<eos>`);
  expect(parseMetaVerdict(flawed, analysis, `${SUMS}<sep><ok><bad>:.5<eos>`)).toEqual({
    ok: true,
    value: verdict,
  });
  expect(metaPrompt(task, flawed, analysis)).toBe(`<judge>7=-3=2=9=<sep>${task}<sep><bad>2<bad>4:0<sep>`);
  const text = writeAnalysedProof(gap, gap.steps, { issues: [], score: 1 });
  expect(text).toBe(
    '<step>7<step>-3<step>2<step>3<answer>3<sep><step>7=<step>-3=<step>2=<step>3=<sep>:1<eos>',
  );
  expect(parseAnalysedProof(task, text)).toEqual({
    ok: true,
    value: { solution: gap, analysis: { issues: [], score: 1 } },
  });
  expect(analysedProofs.parseSolution(task, text)).toEqual({ ok: true, value: gap });
});

test.each([
  [`${SUMS}<sep><bad>4<bad>2:0<eos>`, 'off-grammar'],
  [`${SUMS}<sep><bad>2<bad>2:0<eos>`, 'off-grammar'],
  // The proof has four lines.
  [`${SUMS}<sep><bad>5:.5<eos>`, 'off-grammar'],
  [`${SUMS}<sep><bad>0:.5<eos>`, 'off-grammar'],
  [`${SUMS}<sep><bad>2:2<eos>`, 'off-grammar'],
  [`${SUMS}<sep><bad>2<eos>`, 'off-grammar'],
  [`${SUMS}<sep>:1`, 'off-grammar'],
  [':1<eos>', 'off-grammar'],
  ['<sep>:1<eos>', 'verdict-count'],
  ['<step>7=<sep>:1<eos>', 'verdict-count'],
  // -2 stands nowhere.
  ['<step>7=<step>-2=<step>2=<step>3!9<sep>:1<eos>', 'miscopied'],
  ['', 'off-grammar'],
])('refuses the analysis %s', (text, reason) => {
  expect(parseAnalysis(flawed, text)).toEqual({ ok: false, reason });
});

test('refuses verdicts that do not mark each issue, and proofs without an analysis', () => {
  const analysis: Analysis = { issues: [2], score: 0.5 };
  const read = (text: string) => parseMetaVerdict(flawed, analysis, text);
  expect(read(`${SUMS}<sep><ok><ok>:1<eos>`)).toEqual({ ok: false, reason: 'verdict-count' });
  expect(read(`${SUMS}<sep><ok>:3<eos>`)).toEqual({ ok: false, reason: 'off-grammar' });
  expect(read('<sep><ok>:1<eos>')).toEqual({ ok: false, reason: 'verdict-count' });
  const proved = (text: string) => parseAnalysedProof(task, text);
  expect(proved('<step>7<step>-2<step>3<step>4<answer>4<eos>')).toEqual({ ok: false, reason: 'off-grammar' });
  expect(proved('<answer>4<sep>:1<eos>')).toEqual({ ok: false, reason: 'partial-steps' });
});

test('a reader is shown sums, lines and scores', () => {
  expect(analysisParts('<answer>3<sep><step>7=<step>-2!-3<sep><bad>2:.5<eos>')).toEqual([
    { kind: 'answer', text: '3' },
    { kind: 'mark', text: '7', good: true },
    { kind: 'mark', text: '-2, not -3', good: false },
    { kind: 'mark', text: 'line 2', good: false },
    { kind: 'verdict', text: 'score 0.5' },
  ]);
  expect(analysisParts('<ok><bad>:1<eos>')).toEqual([
    { kind: 'mark', text: 'ok', good: true },
    { kind: 'mark', text: 'bad', good: false },
    { kind: 'verdict', text: 'score 1' },
  ]);
  // Text that is not well-formed is shown as it was written.
  expect(analysisParts('2<bad>x')).toEqual([
    { kind: 'text', text: '2' },
    { kind: 'mark', text: 'bad', good: false },
    { kind: 'text', text: 'x' },
  ]);
});

test('held-out tasks have four operators and are of the held-out side', () => {
  const tasks = analysedProofs.heldOut();
  expect(new Set(tasks).size).toBe(100);
  for (const asked of tasks) {
    expect(chains.isHeldOut(asked)).toBe(true);
    expect(asked).toMatch(/^\d(?:[+-]\d){4}$/);
  }
});

test('the warm start: in form, on the training side, and as imperfect as it says', () => {
  const random = new Random('analyses');
  const own = { flawed: 0, honest: 0 };
  const issues = { named: 0, real: 0, reports: 0, justified: 0 };
  const verdicts = { all: 0, exact: 0 };
  let longest = 0;
  for (let i = 0; i < 3000; i++) {
    const { role, prompt, completion } = demonstrateAnalyses(random);
    if (role === 'solver') {
      const asked = /^<solve>(.+)<sep>$/.exec(prompt)![1]!;
      expect(chains.isHeldOut(asked)).toBe(false);
      longest = Math.max(longest, completion.replace(/<[a-z]+>/g, '#').length);
      const parsed = parseAnalysedProof(asked, completion);
      if (!parsed.ok) throw new Error(completion);
      const exact = exactAnalysis(asked, parsed.value.solution);
      if (exact.score === 1) continue;
      own.flawed++;
      own.honest += Number(parsed.value.analysis.score === exact.score);
      continue;
    }
    const [, lines = '', asked = '', report] = /^<judge>(.+?)<sep>(.+?)<sep>(?:(.+)<sep>)?$/.exec(prompt)!;
    expect(chains.isHeldOut(asked)).toBe(false);
    const solution = proof(...lines.split('=').slice(0, -1));
    const copied = lines
      .split('=')
      .slice(0, -1)
      .map((line) => `<step>${line}=`)
      .join('');
    const analysis = parseAnalysis(solution, role === 'judge' ? completion : `${copied}<sep>${report}<eos>`);
    if (!analysis.ok) throw new Error(prompt + completion);
    const wrong = wrongLines(asked, solution);
    if (role === 'judge') {
      if (wrong.length === 0) continue;
      issues.reports++;
      issues.justified += Number(analysis.value.score === exactAnalysis(asked, solution).score);
      issues.named += analysis.value.issues.length;
      issues.real += analysis.value.issues.filter((line) => wrong.includes(line)).length;
    } else {
      const verdict = parseMetaVerdict(solution, analysis.value, completion);
      if (!verdict.ok) throw new Error(prompt + completion);
      verdicts.all++;
      verdicts.exact += Number(
        verdict.value.score === exactMetaVerdict(asked, solution, analysis.value).score,
      );
    }
  }
  expect(longest).toBeLessThanOrEqual(PROOF_TOKENS);
  // Sums are copied in 0.15 of the reports, which then find nothing.
  expect(Math.abs(issues.justified / issues.reports - 0.85)).toBeLessThan(0.06);
  // Of the rest 0.45 name lines by lot, of which some are hit by chance.
  expect(issues.real / issues.named).toBeGreaterThan(0.6);
  expect(issues.real / issues.named).toBeLessThan(0.85);
  expect(Math.abs(own.honest / own.flawed - 0.3)).toBeLessThan(0.08);
  expect(verdicts.exact / verdicts.all).toBeGreaterThan(0.85);
  expect(verdicts.exact / verdicts.all).toBeLessThan(0.97);
});
