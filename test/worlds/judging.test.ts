import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { demonstrateJudging } from '../../worlds/arithmetic/judge-demonstrations.ts';
import {
  betterOf,
  followCheck,
  otherChoice,
  pairPrompt,
  parseComparison,
  writeComparison,
} from '../../worlds/arithmetic/pairwise.ts';
import {
  looseTotals,
  parseQuestion,
  proposalPrompt,
  soundness,
  spoiled,
  varied,
} from '../../worlds/arithmetic/questions.ts';
import {
  answerBand,
  answerPrompt,
  BANDS,
  bandOf,
  normalised,
  parseRating,
  questionBand,
  scoreIn,
  writeRating,
} from '../../worlds/arithmetic/ratings.ts';
import { anyText } from './any-text.ts';

test.each([
  ['3+4-9', 'sound', 'flawless'],
  ['3--4', 'ambiguous', 'partial'],
  ['3+-4+1', 'ambiguous', 'partial'],
  ['7+*3', 'unsolvable', 'flawed'],
  ['4/0', 'unsolvable', 'flawed'],
  ['5+', 'unsolvable', 'flawed'],
  ['+5-1', 'unsolvable', 'flawed'],
  ['34+2', 'unsolvable', 'flawed'],
  ['7', 'unsolvable', 'flawed'],
  ['1+1+1+1+1+1+1', 'unsolvable', 'flawed'],
] as const)('%s is %s, which is rated %s', (question, kind, band) => {
  expect(soundness(question)).toBe(kind);
  expect(questionBand(question)).toBe(band);
});

test('a question is any short string of the notation, with its stop token', () => {
  expect(parseQuestion('7+*3<eos>')).toEqual({ ok: true, value: '7+*3' });
  for (const text of ['7+3', '7 + 3<eos>', '<eos>', '1+1+1+1+1+1+1<eos>', '7+x<eos>', '7<step>3<eos>'])
    expect(parseQuestion(text)).toEqual({ ok: false, reason: 'off-grammar' });
  expect([proposalPrompt(), proposalPrompt('1+2')]).toEqual(['<propose>', '<propose>1+2<sep>']);
});

test('a varied task differs in one character and stays sound; a spoiled one is never sound and can be read', () => {
  const random = new Random('varied');
  for (let i = 0; i < 500; i++) {
    const task = arithmetic.random(random);
    const other = varied(random, task);
    expect(other).toHaveLength(task.length);
    expect([...other].filter((character, at) => character !== task[at])).toHaveLength(1);
    expect(soundness(other)).toBe('sound');
    const bad = spoiled(random, task);
    expect(soundness(bad), bad).not.toBe('sound');
    expect(parseQuestion(`${bad}<eos>`).ok, bad).toBe(true);
  }
});

test('loose totals pass over what cannot be read', () => {
  expect(looseTotals('3+4-9')).toEqual([7, -2]);
  expect(looseTotals('7+*3')).toEqual([10]);
  expect(looseTotals('8--2+1')).toEqual([6, 7]);
  expect(looseTotals('5+')).toEqual([5]);
  expect(looseTotals('*')).toEqual([0]);
});

test('a score is written less one, after any check', () => {
  expect(writeRating(10, { totals: ['7', '-2'], matches: true })).toBe('<step>7<step>-2<answer>-2=9');
  expect(writeRating(1, { totals: ['7', '-2'], matches: false })).toBe('<step>7<step>-2<answer>-2!0');
  expect(writeRating(4)).toBe('<answer>3');
  expect(parseRating('<step>7<step>-2<answer>-2=9<eos>')).toEqual({ ok: true, value: 10 });
  expect(parseRating('<answer>0<eos>')).toEqual({ ok: true, value: 1 });
  for (const text of [
    '<answer>10<eos>',
    '<step>7<eos>',
    '<answer>9',
    '9<eos>',
    '<answer>-2=<eos>',
    '<answer>-1<eos>',
  ])
    expect(parseRating(text)).toEqual({ ok: false, reason: 'off-grammar' });
  expect([1, 4, 7, 10].map(normalised)).toEqual([0, 1 / 3, 2 / 3, 1]);
  expect([1, 3, 4, 7, 8, 10].map(bandOf)).toEqual([
    'flawed',
    'flawed',
    'partial',
    'partial',
    'flawless',
    'flawless',
  ]);
  const random = new Random('scores');
  for (const band of ['flawed', 'partial', 'flawless'] as const) {
    const drawn = new Set(Array.from({ length: 200 }, () => scoreIn(random, band)));
    const [least, most] = BANDS[band];
    expect([...drawn].sort((a, b) => a - b)).toEqual(
      Array.from({ length: most - least + 1 }, (_, i) => least + i),
    );
  }
});

test.each([
  ['3+4-9', '-2', 'flawless'],
  ['3+4-9', '7', 'flawed'],
  ['3+4-9', '-3', 'flawed'],
  ['3+4-9', '16', 'flawed'],
  ['3--4', '7', 'flawed'],
] as const)('answers: to %s %s is %s', (question, answer, band) => {
  expect(answerBand(question, answer)).toBe(band);
  expect(answerPrompt(question, answer)).toBe(`<judge>${question}<sep>${answer}=<sep>`);
});

test('a comparison is totals, as many as operators or none, and a choice', () => {
  expect(parseComparison('3+4-9', '<step>7<step>-2<answer>-2A<eos>')).toEqual({
    ok: true,
    value: { totals: ['7', '-2'], choice: 'A' },
  });
  expect(parseComparison('3+4-9', '<answer>B<eos>')).toEqual({
    ok: true,
    value: { totals: [], choice: 'B' },
  });
  expect(parseComparison('3+4-9', '<step>7<answer>7A<eos>')).toEqual({ ok: false, reason: 'partial-check' });
  for (const text of ['<step>7<step>-2<answer>A<eos>', '<step>7<step>-2<answer>7A<eos>', '<answer>7A<eos>'])
    expect(parseComparison('3+4-9', text)).toEqual({ ok: false, reason: 'miscopied' });
  for (const text of [
    '<answer>C<eos>',
    '<answer>A',
    'A<eos>',
    '<step>7<step>x<answer>A<eos>',
    '<answer>AB<eos>',
  ])
    expect(parseComparison('3+4-9', text)).toEqual({ ok: false, reason: 'off-grammar' });
  expect(pairPrompt('1+2', 'x', 'y')).toBe('<judge>1+2<sep>xA<sep>yB<sep>');
  expect([otherChoice('A'), otherChoice('B')]).toEqual(['B', 'A']);
});

test('the better answer is the one that alone is right; a check that decides nothing says neither', () => {
  expect(betterOf('1+2', '3', '-1')).toBe('A');
  expect(betterOf('1+2', '-1', '3')).toBe('B');
  expect(betterOf('1+2', '3', '3')).toBeNull();
  expect(betterOf('1+2', '-1', '1')).toBeNull();
  expect(followCheck(['3'], '3', '-1')).toBe('A');
  expect(followCheck(['3'], '-1', '3')).toBe('B');
  expect(followCheck(['4'], '-1', '3')).toBeNull();
  expect(followCheck(['3'], '3', '3')).toBeNull();
});

test('readers are total', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      for (const parsed of [parseComparison('3+4-9', text), parseRating(text), parseQuestion(text)])
        expect(typeof parsed.ok).toBe('boolean');
    }),
  );
  for (const choice of ['A', 'B'] as const) {
    const comparison = { totals: ['7', '-2'], choice };
    expect(parseComparison('3+4-9', `${writeComparison(comparison)}<eos>`)).toEqual({
      ok: true,
      value: comparison,
    });
  }
});

const JUDGED = /^<judge>([^<]*)<sep>(.*)$/;

test('demonstrations keep to the grammars, to 256 tokens, and off the held-out tasks; judges are as poor as said', () => {
  const random = new Random('demonstrations');
  const tokenizer = openTokenizer(characterTokenizer().json);
  let [glances, comparisons, saysA] = [0, 0, 0];
  for (let i = 0; i < 3000; i++) {
    const { role, prompt, completion } = demonstrateJudging(random);
    expect(tokenizer.encode(prompt + completion).length).toBeLessThan(100);
    if (role === 'proposer') {
      const parsed = parseQuestion(completion);
      expect(parsed.ok && !arithmetic.isHeldOut(parsed.value), completion).toBe(true);
      continue;
    }
    const task = /^<(?:judge|solve)>([^<]*)<sep>/.exec(prompt)![1]!;
    expect(arithmetic.isHeldOut(task)).toBe(false);
    if (role === 'solver') expect(completion).toMatch(/^(?:<step>-?\d+)*<answer>-?\d+<eos>$/);
    else if (JUDGED.exec(prompt)![2]!.split('<sep>').length === 3) {
      const parsed = parseComparison(task, completion);
      if (!parsed.ok) throw new Error(`${prompt}: ${parsed.reason}`);
      comparisons++;
      if (parsed.value.totals.length > 0) continue;
      glances++;
      if (parsed.value.choice === 'A') saysA++;
    } else expect(parseRating(completion).ok, completion).toBe(true);
  }
  // By construction 0.45 are glances, and a glance says A with 0.3 · 0.5 + 0.7 · 0.8 = 0.71.
  expect(glances / comparisons).toBeGreaterThan(0.38);
  expect(glances / comparisons).toBeLessThan(0.52);
  expect(saysA / glances).toBeGreaterThan(0.64);
  expect(saysA / glances).toBeLessThan(0.78);
});
