/** Questions about passages: what answers them, how far two are alike, and what their warm start is shown. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { demonstrateQuestion } from '../../worlds/documents/question-demonstrations.ts';
import {
  answersTo,
  meaningOverlap,
  parseAsked,
  questions,
  questionsFor,
  wordOverlap,
} from '../../worlds/documents/questions.ts';
import { anyText } from './any-text.ts';
import { promptedTask } from './prompted-question.ts';

const TASK = 'be3 da7 ko2 mi5 tu7:ko?after da';
const { facts } = parseAsked(TASK)!;

test('a question is answered by the passage: by a number, or by the name beside another', () => {
  expect(answersTo(facts, 'has 2')).toEqual(['ko']);
  expect(answersTo(facts, 'has 7')).toEqual(['da', 'tu']);
  expect(answersTo(facts, 'after da')).toEqual(['ko']);
  expect(answersTo(facts, 'before da')).toEqual(['be']);
  // There is no 8, nobody after the last or before the first, and no xa.
  for (const nobody of ['has 8', 'after tu', 'before be', 'after xa', 'before xa'])
    expect(answersTo(facts, nobody), nobody).toEqual([]);
  expect(questionsFor(facts, 'ko').sort()).toEqual(['after da', 'before mi', 'has 2']);
  // Two have 7, and nobody is after tu.
  expect(questionsFor(facts, 'tu')).toEqual(['after mi']);
});

test('overlap in words and in meaning with the reference "after da"', () => {
  // The same; the same meaning in other words; one word of two, and no pair; another name with one that is right; nobody.
  const cases: [question: string, words: number, meaning: number][] = [
    ['after da', 1, 1],
    ['has 2', 0, 1],
    ['before mi', 0, 1],
    ['after be', 0.25, 0],
    ['before da', 0.25, 0],
    ['has 8', 0, 0],
  ];
  for (const [question, words, meaning] of cases)
    expect([wordOverlap(TASK, question), meaningOverlap(TASK, question)], question).toEqual([words, meaning]);
  // da and tu have 7: one of the two is meant.
  expect(meaningOverlap('be3 da7 ko2 mi5 tu7:da?after be', 'has 7')).toBe(0.5);
});

test('tasks have a reference with the answer alone, on their side of the split; a solution is a question', () => {
  const random = new Random('questions');
  for (let i = 0; i < 200; i++) {
    const task = questions.random(random);
    expect(questions.isHeldOut(task)).toBe(false);
    const { facts: passage, answer, reference } = parseAsked(task)!;
    expect(answersTo(passage, reference)).toEqual([answer]);
  }
  expect(questions.heldOut().every(questions.isHeldOut)).toBe(true);
  expect(questions.solverPrompt(TASK)).toBe('<propose>be3 da7 <answer>ko2 mi5 tu7<sep>');
  const said = (text: string) => questions.parseSolution(TASK, text);
  const parsed = said('has 2<eos>');
  if (!parsed.ok) throw new Error('has 2');
  expect(questions.answerIsExact(TASK, parsed.value)).toBe(true);
  expect(questions.answerIsExact(TASK, { steps: [], answer: 'after be' })).toBe(false);
  for (const text of [
    'has 2',
    'has 9<eos>',
    'after 2<eos>',
    'has 2?<eos>',
    '<eos>',
    'after da after da<eos>',
  ])
    expect(said(text), text).toEqual({ ok: false, reason: 'off-grammar' });
});

test('no text makes the family throw', () => {
  fc.assert(
    fc.property(anyText, anyText, (task, question) => {
      parseAsked(task);
      wordOverlap(task, question);
      meaningOverlap(task, question);
      questions.parseSolution(task, question);
      questions.solverPrompt(task);
      questions.isHeldOut(task);
      questions.difficulty(task);
    }),
    { numRuns: 300 },
  );
});

test('demonstrations: all forms, one in three about another name, none about held-out facts', () => {
  const random = new Random('demonstrations');
  let right = 0;
  const forms = new Map<string, number>();
  for (let i = 0; i < 1500; i++) {
    const { role, prompt, completion } = demonstrateQuestion(random);
    expect(role).toBe('solver');
    const task = promptedTask(prompt);
    expect(questions.isHeldOut(task)).toBe(false);
    const parsed = questions.parseSolution(task, completion);
    if (!parsed.ok) throw new Error(completion);
    right += Number(questions.answerIsExact(task, parsed.value));
    const form = parsed.value.answer.split(' ')[0]!;
    forms.set(form, (forms.get(form) ?? 0) + 1);
  }
  expect(right / 1500).toBeCloseTo(2 / 3, 1);
  expect([...forms.keys()].sort()).toEqual(['after', 'before', 'has']);
  for (const count of forms.values()) expect(count / 1500).toBeGreaterThan(0.2);
});
