/** Rubrics: what they may say, how they are filled in, and how grades are read. */
import { describe, expect, test } from 'vitest';
import {
  fillRubric,
  parseGrade,
  parseRubric,
  shownQuestion,
  usesReference,
} from '../../core/recipe/rubric.ts';

const written = (change: object = {}) =>
  JSON.stringify({
    messages: [{ role: 'user', content: '{{question}}\n\n{{response}}' }],
    grade: { tag: 'grade', from: 0, to: 10 },
    ...change,
  });
const asks = (content: string) => ({ messages: [{ role: 'user', content }] });

describe('a rubric file', () => {
  test('has defaults for what it does not say', () => {
    expect(parseRubric(written(), 'r.json')).toMatchObject({ maxNew: 64, temperature: 0 });
  });

  test('is refused with its path and what is wrong', () => {
    const refused = (text: string) => expect(() => parseRubric(text, 'r.json'));
    refused('{').toThrow(/The rubric r\.json is no JSON/);
    refused('{}').toThrow(/The rubric r\.json is wrong at messages/);
    refused(written({ grade: { from: 0 } })).toThrow(/wrong at grade.*"from": 0, "to": 10/);
    refused(written({ grade: { grades: {} } })).toThrow(/wrong at grade/);
    refused(written({ grade: { from: 5, to: 5 } })).toThrow(/grades from 5 to 5/);
    refused(written({ maxNew: 0 })).toThrow(/wrong at maxNew/);
    refused(written({ judge: 'words' })).toThrow(/wrong at judge/);
    refused(written(asks('{{respons}} {{response}}'))).toThrow(/names {{respons}}.*{{response}}, perhaps/);
    refused(written(asks('{{question}}'))).toThrow(/does not show the judge what it is to judge/);
    refused(
      written({ messages: [...asks('{{response}}').messages, { role: 'assistant', content: 'Well' }] }),
    ).toThrow(/ends with a message of the assistant/);
  });

  test('uses gold only where it names the reference', () => {
    expect(usesReference(parseRubric(written(), 'r'))).toBe(false);
    expect(usesReference(parseRubric(written(asks('{{response}} {{ reference }}')), 'r'))).toBe(true);
  });
});

test('what is filled in is not filled in again', () => {
  const rubric = parseRubric(
    written(asks('Q {{question}} A {{ response }} R {{reference}} A {{response}}')),
    'r',
  );
  const shown = { question: '1+1', response: '{{reference}} $& $1', reference: '2' };
  expect(fillRubric(rubric, shown)).toEqual([
    { role: 'user', content: 'Q 1+1 A {{reference}} $& $1 R 2 A {{reference}} $& $1' },
  ]);
});

test('a conversation is shown with its speakers, a question as it is', () => {
  const user = { role: 'user' as const, content: '1+1' };
  expect(shownQuestion([user])).toBe('1+1');
  expect(shownQuestion([{ role: 'system', content: 'Be brief.' }, user])).toBe(
    'system: Be brief.\n\nuser: 1+1',
  );
});

describe('a grade', () => {
  const scale = { grade: { tag: 'grade', from: 0, to: 10 } };
  const words = { grade: { tag: 'verdict', grades: { Good: 1, fair: 0.5, poor: -1 } } };

  test.each([
    ['<grade>7</grade>', 0.7],
    ['So <grade>3</grade>, no: <grade> 10 </grade>.', 1],
    ['<grade>2.5', 0.25],
    ['<grade>0</grade>', 0],
    ['<grade>11</grade>', null],
    ['<grade>-1</grade>', null],
    ['<grade>7/10</grade>', null],
    ['<grade></grade>', null],
    ['7', null],
    ['', null],
  ])('of %j on a scale from 0 to 10 is worth %j', (text, worth) => {
    expect(parseGrade(scale, text)).toBe(worth);
  });

  test.each([
    ['<verdict>good</verdict>', 1],
    ['<verdict>FAIR</verdict>', 0.5],
    ['<verdict>poor</verdict>', -1],
    ['<verdict>very good</verdict>', null],
    ['good', null],
  ])('in words, of %j, is worth %j', (text, worth) => {
    expect(parseGrade(words, text)).toBe(worth);
  });

  test('without a tag is the whole text', () => {
    expect(parseGrade({ grade: { from: 1, to: 5 } }, ' 2\n')).toBe(0.25);
    expect(parseGrade({ grade: { from: 1, to: 5 } }, 'a 2')).toBeNull();
    // A word that every object has is no grade.
    expect(parseGrade({ grade: { grades: { yes: 1 } } }, 'constructor')).toBeNull();
  });
});
