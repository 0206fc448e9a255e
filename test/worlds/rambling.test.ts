import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import {
  demonstrateRambling,
  isFiller,
  parseScores,
  parseSegments,
  READER_TOKENS,
  rambledArithmetic,
  scorePrompt,
  segmentPrompt,
  totalsKept,
} from '../../worlds/arithmetic/rambling.ts';

const TASK = '3+4-9+1';
const parse = (text: string) => rambledArithmetic.parseSolution(TASK, text);

test('an answer has any number of lines, and its steps are all of them', () => {
  expect(parse('<step>hm<step>7<step>so<step>-2<answer>-1<eos>')).toEqual({
    ok: true,
    value: { steps: ['hm', '7', 'so', '-2'], answer: '-1' },
  });
  expect(parse('<answer>-1<eos>')).toEqual({ ok: true, value: { steps: [], answer: '-1' } });
  for (const text of [
    '<step>7<answer>-1',
    '<step>7h<answer>-1<eos>',
    '<step><answer>-1<eos>',
    '7<answer>-1<eos>',
    '<step>7<answer>hm<eos>',
    '<step>7<answer>-1<answer>-1<eos>',
  ])
    expect([text, parse(text)]).toEqual([text, { ok: false, reason: 'off-grammar' }]);
});

test('totals may be left out, and those that are stated are checked in their order', () => {
  const judged = (...steps: string[]) => rambledArithmetic.exactJudgment(TASK, { steps, answer: '-1' });
  expect(judged('7', 'hm', '-2', '-1')).toEqual({ steps: [true, true, true, true], right: true });
  expect(judged('-2')).toEqual({ steps: [true], right: true });
  expect(judged('-2', '7').steps).toEqual([true, false]);
  expect(judged('8', '-2')).toEqual({ steps: [false, true], right: false });
  expect(rambledArithmetic.exactJudgment(TASK, { steps: [], answer: '4' }).right).toBe(false);
  expect(['hm', '7', '-2'].map(isFiller)).toEqual([true, false, false]);
  expect(totalsKept(TASK, ['hm', '7'])).toBeCloseTo(1 / 3, 12);
  expect(totalsKept(TASK, ['7', '7', '7', '7'])).toBe(1);
});

test('segmentations lose no line, and scores are one for each chunk', () => {
  const lines = ['hm', 'so', '7', 'ok'];
  const chunks = [['hm', 'so'], ['7'], ['ok']];
  expect(segmentPrompt(lines)).toBe('<propose><step>hm<step>so<step>7<step>ok<sep>');
  expect(parseSegments(lines, ';.;;<eos>')).toEqual({ ok: true, value: chunks });
  expect(parseSegments(lines, ';.;<eos>')).toEqual({ ok: false, reason: 'verdict-count' });
  for (const text of ['.;;;<eos>', ';.;;', '', ';x;;<eos>'])
    expect(parseSegments(lines, text)).toEqual({ ok: false, reason: 'off-grammar' });
  expect(scorePrompt(chunks)).toBe('<judge><step>hm<step>so;<step>7;<step>ok<sep>');
  expect(parseScores(chunks, '152<eos>')).toEqual({ ok: true, value: [1, 5, 2] });
  expect(parseScores(chunks, '15<eos>')).toEqual({ ok: false, reason: 'verdict-count' });
  for (const text of ['062<eos>', '152', '<eos>'])
    expect(parseScores(chunks, text)).toEqual({ ok: false, reason: 'off-grammar' });
});

test('demonstrations keep to the grammar and the training side; readers are mostly right, and jumps cost accuracy', () => {
  const random = new Random('rambling');
  const tokenizer = openTokenizer(characterTokenizer().json);
  const unknown = tokenizer.id('<unk>');
  const solved: { kept: number; exact: boolean; filler: number; totals: number }[] = [];
  const scores = { total: [0, 0], filler: [0, 0] };
  for (let i = 0; i < 4000; i++) {
    const { role, prompt, completion } = demonstrateRambling(random);
    const told = prompt.replace(/^<\w+>/, '').slice(0, -'<sep>'.length);
    const length = tokenizer.encode(completion).length;
    expect([...tokenizer.encode(prompt), ...tokenizer.encode(completion)]).not.toContain(unknown);
    if (role === 'solver') {
      expect(rambledArithmetic.isHeldOut(told)).toBe(false);
      expect(length).toBeLessThanOrEqual(rambledArithmetic.maxNew.solver);
      const parsed = rambledArithmetic.parseSolution(told, completion);
      if (!parsed.ok) throw new Error(completion);
      const { steps } = parsed.value;
      const filler = steps.filter(isFiller).length;
      solved.push({
        kept: totalsKept(told, steps),
        exact: rambledArithmetic.answerIsExact(told, parsed.value),
        filler,
        totals: steps.length - filler,
      });
      continue;
    }
    expect(length).toBeLessThanOrEqual(READER_TOKENS);
    const chunks = told.split(';').map((chunk) => chunk.split('<step>').slice(1));
    if (role === 'segmenter') expect(parseSegments(chunks.flat(), completion).ok).toBe(true);
    else {
      const parsed = parseScores(chunks, completion);
      if (!parsed.ok) throw new Error(completion);
      chunks.forEach((lines, c) => {
        if (lines.length > 1) return;
        const sum = scores[isFiller(lines[0]!) ? 'filler' : 'total'];
        sum[0]! += parsed.value[c]!;
        sum[1]!++;
      });
    }
  }
  const mean = (of: readonly number[]) => of.reduce((a, b) => a + b, 0) / of.length;
  const accuracy = (all: boolean) =>
    mean(solved.filter(({ kept }) => (kept === 1) === all).map(({ exact }) => Number(exact)));
  expect(mean(solved.map(({ kept }) => kept))).toBeCloseTo(0.7, 1);
  expect(accuracy(true)).toBeGreaterThan(accuracy(false) + 0.15);
  expect(mean(solved.map(({ filler }) => filler))).toBeGreaterThan(2);
  expect(scores.total[0]! / scores.total[1]!).toBeGreaterThan(4);
  expect(scores.filler[0]! / scores.filler[1]!).toBeLessThan(2);
});
