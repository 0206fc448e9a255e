/** What is read from a question's text, held to the evaluation files, which another program generated, and to the generators here. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../../core/checkers/expression.ts';
import { Random } from '../../../core/random.ts';
import { parseQuestion } from '../../../worlds/words/parse-question.ts';
import { drawQuestion, FAMILIES } from '../../../worlds/words/questions.ts';

const FOLDER = 'examples/reasoning-gym';
interface Row {
  readonly question: string;
  readonly answer: string;
  readonly metadata: { readonly numbers?: number[]; readonly target?: number };
}

describe.each(readdirSync(FOLDER).filter((file) => file.endsWith('.jsonl')))('%s', (file) => {
  const rows = readFileSync(join(FOLDER, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  test('every question is read, has its answer, and is held out', () => {
    for (const { question, answer, metadata } of rows) {
      const read = parseQuestion(question);
      if (!read.ok) throw new Error(`${question}: ${read.reason}`);
      expect(read.value.isHeldOut, question).toBe(true);
      if (!file.startsWith('countdown')) {
        expect(read.value.answer, question).toBe(answer);
        continue;
      }
      expect(read.value.metadata).toEqual({ numbers: metadata.numbers, target: metadata.target });
      const value = evaluateExpression(read.value.answer);
      if (!value.ok) throw new Error(read.value.answer);
      expect(value.value.value.toFraction()).toBe(String(metadata.target));
      expect([...value.value.numbers].sort()).toEqual([...metadata.numbers!].sort());
    }
  });
});

test.each(FAMILIES)('generated questions of %s are read, and none is held out', (family) => {
  const random = new Random(`read/${family}`);
  for (let i = 0; i < 100; i++) {
    const { question, answer, metadata } = drawQuestion(random, family);
    const read = parseQuestion(question);
    expect(read, question).toMatchObject({ ok: true, value: { isHeldOut: false } });
    if (!read.ok) continue;
    if (family === 'countdown')
      expect(read.value.metadata).toEqual({ numbers: metadata.numbers, target: metadata.target });
    else expect(read.value.answer, question).toBe(answer);
  }
});

test.each([
  ['What is love?', 'no-kind'],
  ['Calculate 3 + .', 'no-kind'],
  ['Calculate ( 3 + 4.', 'no-kind'],
  ['Calculate 7.', 'no-kind'],
  ['Calculate 7 / 2.', 'no-kind'],
  ['Calculate 7 / 0.', 'no-kind'],
  ['Calculate 999 * 9999.', 'too-large'],
  ['Solve the following multiplication: 3 + 4. Give only the result as your final answer.', 'no-kind'],
  ['Solve for x: 3*x + 4 = 12', 'no-whole-root'],
  ['Solve for x: 0*x + 4 = 12', 'no-whole-root'],
  ['Solve for y: 3*x + 4 = 13', 'no-kind'],
  [
    'Find the Greatest Common Divisor (GCD) of these numbers: 0, 4. Give only the GCD as your final answer.',
    'no-kind',
  ],
])('%j is refused as %s', (question, reason) => {
  expect(parseQuestion(question)).toEqual({ ok: false, reason });
});

test('a question is held out by its operands, whatever its signs, and by what working it out states', () => {
  // 49 * 22 and 15 + 84 are asked in the evaluation files.
  for (const question of [
    'Calculate 49 * -22.',
    'Solve the following multiplication: 22 * 49. Give only the result as your final answer.',
    'Calculate ( 15 + 84 ) - 5.',
  ])
    expect(parseQuestion(question), question).toMatchObject({ ok: true, value: { isHeldOut: true } });
});
