import { expect, test } from 'vitest';
import { findChecker } from '../../core/checkers/registry.ts';
import type { GeneratePrompt, SamplingSettings } from '../../core/policy/policy.ts';
import { rendererOf } from '../../core/renderer/open.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { after } from '../../core/text/token-grammar.ts';
import { bestFigures, compare, figuresOf } from '../../protocols/evaluate/figures.ts';
import { type AnsweredQuestion, answerQuestions } from '../../protocols/evaluate/questions.ts';
import { temperaturesOf } from '../../protocols/evaluate/temperatures.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import type { CheckedAnswer } from '../../worlds/questions/check-answer.ts';
import { SMOLLM_TEMPLATE, versionFiles } from '../core/renderer/checkpoints.ts';

const task = (question: string, answer: string, difficulty: number | null = null): PlacedTask => ({
  messages: [{ role: 'user', content: question }],
  answer,
  metadata: {},
  difficulty,
  file: 't.jsonl',
  line: 1,
});

const files = versionFiles({ chat_template: SMOLLM_TEMPLATE, eos_token: '<|im_end|>' });
const tokenizer = tokenizerOf(files, 'p');
const plainFiles = versionFiles({ eos_token: '<|endoftext|>' });

/** Says the next of the given texts each time it is asked for a sample. */
const description = (texts: readonly string[]) => {
  const left = [...texts];
  const asked: { prompts: readonly GeneratePrompt[]; settings: SamplingSettings }[] = [];
  return {
    asked,
    generate: async (prompts: readonly GeneratePrompt[], settings: SamplingSettings) => {
      asked.push({ prompts, settings });
      return prompts.map(({ sampleIds }) =>
        sampleIds.map(() => {
          const ids = tokenizer.encode(left.shift()!).slice(0, settings.maxNew);
          return { ids, logprobs: ids.map(() => 0), stopped: settings.stop.includes(ids.at(-1)!) };
        }),
      );
    },
  };
};

const settings = {
  checker: findChecker('number'),
  extract: ['boxed', 'answer'],
  maxNew: 30,
  samples: 2,
  temperature: 0.8,
  seed: 3,
} as const;

test('greedy and sampled answers, each with what became of it', async () => {
  const policy = description([
    // Greedy, then two samples for each of the questions.
    String.raw`So \boxed{7}<|im_end|>`,
    '<answer>plenty</answer><|im_end|>',
    '<answer>7</answer><|im_end|>',
    String.raw`\boxed{8}<|im_end|>`,
    'twelve<|im_end|>',
    String.raw`\boxed{12} and much more than thirty tokens`,
  ]);
  const renderer = rendererOf(files, 'p');
  const answered = await answerQuestions(policy, renderer, [task('3+4', '7'), task('6+6', '12')], settings);
  expect(answered.map(({ greedy }) => greedy)).toEqual([
    { text: String.raw`So \boxed{7}`, answer: '7', outcome: 'right', tokens: 13 },
    { text: '<answer>plenty</answer>', answer: null, outcome: 'no-number', tokens: 24 },
  ]);
  expect(answered.map(({ samples }) => samples.map(({ outcome }) => outcome))).toEqual([
    ['right', 'wrong'],
    ['no-answer-tag', 'cut-off'],
  ]);
  const [greedy, sampled] = policy.asked;
  expect(greedy!.settings).toMatchObject({ temperature: 0, maxNew: 30, stop: [261] });
  expect(sampled!.settings).toMatchObject({ temperature: 0.8 });
  const ids = policy.asked.flatMap(({ prompts }) => prompts.flatMap(({ sampleIds }) => sampleIds));
  expect(new Set(ids).size).toBe(6);
});

test('plain text ends at the next question, which a grammar finds', async () => {
  const renderer = rendererOf(plainFiles, 'p');
  const { grammar } = renderer.ends();
  let state = 0;
  const run = tokenizer.encode(' 7\n\nQuestion:');
  for (const [i, id] of run.entries()) {
    expect(grammar!.ends[state]).toBe(false);
    state = after(grammar!, state, id);
    expect(state, String(i)).toBeGreaterThanOrEqual(0);
  }
  expect(grammar!.ends[state]).toBe(true);
  const policy = description([' 7\n\nQuestion:', ' 7', ' 8\n\nQuestion:']);
  const [only] = await answerQuestions(policy, renderer, [task('3+4', '7')], {
    ...settings,
    extract: ['whole'],
  });
  expect(only!.greedy).toMatchObject({ text: ' 7', answer: '7', outcome: 'right' });
  expect(only!.samples.map(({ outcome }) => outcome)).toEqual(['cut-off', 'wrong']);
});

const answer = (outcome: string, value: string | null = null): CheckedAnswer => ({
  text: value ?? '',
  answer: outcome === 'right' || outcome === 'wrong' ? value : null,
  outcome,
  tokens: 10,
});
const question = (
  greedy: CheckedAnswer,
  samples: readonly CheckedAnswer[],
  difficulty: number | null = null,
): AnsweredQuestion => ({
  task: task('q', '7', difficulty),
  greedy,
  samples,
  tokens: { prompt: [1], samples: samples.map(() => [2]) },
});

test('figures, worked by hand', () => {
  const right = answer('right', '7');
  const wrong = (value: string) => answer('wrong', value);
  const questions = [
    // 7, 7, 8, none: pass@2 = 1 − C(2,2)/C(4,2) = 5/6; pairs for the vote: 77, 78, 78, 7–, 7–, 8–: 1 + ½·2 + 2 + 0 of 6.
    question(right, [right, right, wrong('8'), answer('no-box')], 1),
    // 8, 8.0, 9, 7: "8" and "8.0" are one answer; pass@2 = 1/2; pairs: 88, 89, 87, 89, 87, 97: ½·3 of 6.
    question(wrong('8'), [wrong('8'), wrong('8.0'), wrong('9'), right], 2),
  ];
  const figures = figuresOf(questions);
  expect(figures.n).toBe(2);
  expect(figures.greedy).toMatchObject({ accuracy: { share: 0.5 }, tokens: 10, invalid: {} });
  const { sampled, byDifficulty } = figures;
  expect(sampled!.accuracy.share).toBeCloseTo(3 / 8, 12);
  expect(sampled!.invalid).toEqual({ 'no-box': 1 / 8 });
  expect(Object.keys(sampled!.passAt)).toEqual(['1', '2', '4']);
  expect(sampled!.passAt[2]!.share).toBeCloseTo((5 / 6 + 1 / 2) / 2, 12);
  expect(sampled!.passAt[4]!.share).toBe(1);
  expect(sampled!.majorityAt[1]!.share).toBeCloseTo(3 / 8, 12);
  expect(sampled!.majorityAt[2]!.share).toBeCloseTo((4 / 6 + 1 / 4) / 2, 12);
  expect(sampled!.majorityAt[4]!.share).toBeCloseTo(0.5, 12);
  expect(byDifficulty.map(({ from, to, n, greedy }) => [from, to, n, greedy.share])).toEqual([
    [1, 1, 1, 1],
    [2, 2, 1, 0],
  ]);
});

test('many difficulties become ranges of about as many questions, equal ones together', () => {
  const questions = Array.from({ length: 60 }, (_, i) =>
    question(answer(i < 30 ? 'right' : 'wrong', '1'), [], Math.floor(i / 3)),
  );
  const ranges = figuresOf(questions).byDifficulty;
  expect(ranges.reduce((sum, { n }) => sum + n, 0)).toBe(60);
  expect(ranges).toHaveLength(6);
  expect(ranges[0]).toMatchObject({ from: 0, to: 3, n: 12, greedy: { share: 1 } });
  expect(ranges.at(-1)).toMatchObject({ to: 19, greedy: { share: 0 } });
  expect(figuresOf(questions).sampled).toBeNull();
});

test('two versions are compared question by question', () => {
  const of = (pattern: string) =>
    [...pattern].map((mark) =>
      question(answer(mark === '+' ? 'right' : 'wrong', '1'), [
        answer(mark === '+' ? 'right' : 'wrong', '1'),
      ]),
    );
  const { greedy, sampled } = compare(of('++---'), of('+-+++'));
  // One only before, three only after: 2·(C(4,0) + C(4,1))/2⁴ = 10/16.
  expect(greedy).toMatchObject({
    onlyFirst: 1,
    onlySecond: 3,
    mean: expect.closeTo(0.4, 12),
    p: expect.closeTo(10 / 16, 12),
  });
  expect(sampled!.mean).toBeCloseTo(0.4, 12);
});

test('best-of-k by scores, beside a scorer that knows nothing of the texts', () => {
  const right = answer('right', '7');
  const wrong = (value: string) => answer('wrong', value);
  // 7 7 8 9, scored 1 1 2 0: the pairs 77 77-free … 7a7b right, 7a8 7b8 wrong, 7a9 7b9 right, 89 wrong: 3 of 6; all four: 8, wrong.
  const found = bestFigures([question(right, [right, right, wrong('8'), wrong('9')])], [[1, 1, 2, 0]]);
  const shares = (at: object) => Object.values(at).map(({ share }: { share: number }) => share);
  expect(shares(found.bestAt)).toEqual([0.5, 0.5, 0]);
  // Three texts, one of them right: of the pairs 77 surely, 78 and 79 (two each) by half, 89 never.
  expect(shares(found.chanceAt)).toEqual([0.5, 0.5, expect.closeTo(1 / 3, 12)]);
});

test('several answers at several temperatures, worked by hand', async () => {
  const [seven, eight, nine] = ['7', '8', '9'].map((number) => `<answer>${number}</answer><|im_end|>`);
  const policy = description([
    // At 0.5, two samples of each question: 3+4, then 6+6 of which no sample is right.
    ...[seven!, seven!, eight!, nine!],
    // At 1: one of two right for the first question.
    ...[seven!, eight!, eight!, eight!],
  ]);
  const figures = await temperaturesOf(
    { samples: 2, temperatures: [0.5, 1] },
    0.5,
    policy,
    rendererOf(files, 'p'),
    [task('3+4', '7'), task('6+6', '12')],
    settings,
  );
  expect(figures).toEqual({
    'sampledAt.0': 0.5,
    // (1 + 0) / 2 right, as in pass@2 and in the vote.
    'sampledAt.0.5': 0.5,
    'passAt.0.5': 0.5,
    'majorityAt.0.5': 0.5,
    // (1/2 + 0) / 2; pass@2 (1 + 0) / 2; 7 and 8 tie: (1/2 + 0) / 2.
    'sampledAt.1': 0.25,
    'passAt.1': 0.5,
    'majorityAt.1': 0.25,
    // Of equals the lowest.
    bestTemperature: 0,
  });
  expect(policy.asked.map(({ settings: { temperature } }) => temperature)).toEqual([0.5, 1]);
  const ids = policy.asked.flatMap(({ prompts }) => prompts.flatMap(({ sampleIds }) => sampleIds));
  expect(new Set(ids).size).toBe(8);
});
