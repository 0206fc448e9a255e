import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { judgmentPay, turnReturns } from '../../recipes/reseek/recipe.ts';
import { answerOf, theWorld } from '../../worlds/knowledge/episode.ts';
import { documentsOf, libraryOf } from '../../worlds/questions/library.ts';
import { writeTask } from '../../worlds/questions/task-text.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

const reseek = shipped.find('reseek');

test('a judgment is paid by its label, and accepting what does not help costs most', () => {
  expect([judgmentPay(true, true), judgmentPay(false, false)]).toEqual([0.3, 0.3]);
  expect([judgmentPay(true, false), judgmentPay(false, true)]).toEqual([-0.6, -0.3]);
  expect([judgmentPay(null, true), judgmentPay(null, false)]).toEqual([-0.3, -0.3]);
  expect(judgmentPay(true, false, 'symmetric')).toBe(-0.3);
  expect(judgmentPay(true, false, 'em-only')).toBe(0);
});

test('what later turns are paid counts nine tenths a turn', () => {
  // A search, a wrong "yes", a search, a right "yes", a right answer: .9 · (−.6 + .9 · (.9 · (.3 + .9))).
  const turns = [0, -0.6, 0, 0.3, 1].map((turn) => ({ rewards: { turn } }));
  expect(turnReturns(turns)).toEqual([0.3348, 0.372, 1.08, 1.2, 1].map((value) => expect.closeTo(value, 5)));
});

const TOWERS = [
  'The north tower is 40 metres high.',
  'The south tower is 55 metres high.',
  'The mill has a wheel.',
];
const task = (question: string, answer: string, line: number, documents: readonly unknown[]) => ({
  ...sayTask(question, answer, line),
  metadata: { documents },
});

test('documents are texts, or have a text and a title; those of all questions are searched for each', () => {
  const other = { title: 'Lighthouse', text: 'Es ist zwölf Meter hoch.' };
  const tasks = [task('How high?', '55', 1, TOWERS), task('Wie hoch?', 'Zwölf', 2, [other, '', 7])];
  expect(documentsOf(tasks[1]!)).toEqual(['Lighthouse: Es ist zwölf Meter hoch.']);
  const library = libraryOf(tasks)!;
  expect(library.search('south tower')).toEqual([TOWERS[1], TOWERS[0]]);
  expect(library.search('ZWÖLF')).toEqual(['Lighthouse: Es ist zwölf Meter hoch.']);
  expect(library.hold([TOWERS[0]!], writeTask(tasks[0]!))).toBe(false);
  expect(library.hold([TOWERS[1]!], writeTask(tasks[0]!))).toBe(true);
  // A number inside another is not that number, and case does not count.
  expect(library.hold(['It is 155 high.'], writeTask(tasks[0]!))).toBe(false);
  expect(library.hold(['zwölf'], writeTask(tasks[1]!))).toBe(true);
  const several = writeTask({ ...tasks[1]!, metadata: { accepted: ['Zwölf', '12'] } });
  expect(library.hold(['12 Meter'], several)).toBe(true);
  expect(libraryOf([sayTask('Say one', 'one', 1)])).toBeUndefined();
});

/** Two episodes about the south tower: one finds the wrong document first, the other answers at once, wrongly. */
const searched = (variant?: string) => {
  const prompts: string[] = [];
  const says = (_: string, prompt: string): readonly string[] => {
    prompts.push(prompt);
    if (prompt.includes('Does it help'))
      return prompt.includes('for: mill') ? ['yes'] : ['<answer>yes</answer>'];
    if (prompt.includes('<search>south tower</search>')) return ['<answer>55</answer>'];
    if (prompt.includes('<search>mill</search>')) return ['<search>south tower</search>'];
    return ['<search>mill</search>', '<answer>40</answer>'];
  };
  const sources = [{ weight: 1, tasks: [task('How high is the south tower?', '55', 1, TOWERS)] }];
  const asked = { recipe: 'reseek', tasks: 1, groupSize: 2, given: { sources }, says };
  return play({ ...asked, ...(variant ? { variant } : {}) }).then((played) => ({ ...played, prompts }));
};

test('a round: searches, judgments and an answer, each compared with its own kind', async () => {
  const { groups, plan, prompts, read } = await searched();
  const [{ samples, answersExact }] = groups as [(typeof groups)[0]];
  expect(
    samples.map((sample) => [read(sample), sample.turn, sample.about ?? 'search', sample.rewards]),
  ).toEqual([
    ['<search>mill</search>', 0, 'search', { reward: 1, turn: 0 }],
    ['yes', 1, 'sift', { reward: 1, turn: -0.6 }],
    ['<search>south tower</search>', 2, 'search', { reward: 1, turn: 0 }],
    ['<answer>yes</answer>', 3, 'sift', { reward: 1, turn: 0.3 }],
    ['<answer>55</answer>', 4, 'search', { reward: 1, turn: 1 }],
    ['<answer>40</answer>', 0, 'search', { reward: 0, turn: 0 }],
  ]);
  expect(answersExact).toEqual([true, true, true, true, true, false]);
  const last = prompts.find((prompt) => prompt.includes('<search>south tower</search><|im_end|>'))!;
  expect(last).toContain(
    'Found:\n1. The mill has a wheel.\n\nYou judged that this helps.\n\nSearch again, or answer the question.',
  );
  expect(last).toContain(
    'Found:\n1. The south tower is 55 metres high.\n2. The north tower is 40 metres high.',
  );
  const { items } = plan.updates[0]!.parts[0] as PolicyPart;
  // Returns .3348, 1.08, 1 and 0 of searches and answers: mean .6037, deviation .52303 of a sample. Judgments: .372 and 1.2.
  expect(items.map(({ advantage }) => advantage)).toEqual(
    [-0.51412, -Math.SQRT1_2, 0.91065, Math.SQRT1_2, 0.7577, -1.15424].map((value) =>
      expect.closeTo(value, 3),
    ),
  );
  expect(plan.figures).toEqual({ searches: 1, calledUseful: 1 });
});

test('variants: nobody is asked for judgments, or they are paid nothing', async () => {
  const none = (await searched('no-judgments')).groups[0]!.samples;
  expect(none.map(({ rewards }) => rewards.turn)).toEqual([0, 0, 1, 0]);
  const unpaid = (await searched('em-only')).groups[0]!.samples;
  expect(unpaid.map(({ rewards }) => rewards.turn)).toEqual([0, 0, 0, 0, 1, 0]);
});

test('after the last search it is told to answer, and one more search ends the episode', async () => {
  const prompts: string[] = [];
  const sources = [{ weight: 1, tasks: [task('How high is the south tower?', '55', 1, TOWERS)] }];
  const { groups, plan } = await play({
    recipe: 'reseek',
    variant: 'no-judgments',
    tasks: 1,
    groupSize: 1,
    given: { sources },
    says: (_, prompt) => {
      prompts.push(prompt);
      return ['<search>wheel</search>'];
    },
  });
  expect(prompts).toHaveLength(4);
  expect(prompts[2]).not.toContain('Answer the question now.');
  expect(prompts[3]).toContain('Answer the question now.');
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([0, 0, 0, 0]);
  expect(groups[0]!.answersExact).toEqual([null, null, null, null]);
  // The fourth text finds nothing.
  expect(plan.figures).toEqual({ searches: 3 });
});

test('among one-line documents a small policy judges by whether it would answer', async () => {
  const { groups } = await playWritten(
    reseek,
    (prompt) => {
      const { answer, base } = asked(prompt);
      return prompt.includes('<step>?') ? `<answer>${answer}<eos>` : `<step>?${base}<eos>`;
    },
    { tasks: 1, groupSize: 1 },
  );
  const [{ samples, answersExact }] = groups as [(typeof groups)[0]];
  expect(samples.map(({ about }) => about)).toEqual([undefined, 'sift', undefined]);
  expect(answersExact).toEqual([true, true, true]);
});
const asked = (prompt: string) => {
  const question = /<solve>(.*?)<sep>/.exec(prompt)![1]!;
  return { answer: answerOf(theWorld(), question)!, base: /(\w+)\?$/.exec(question)![1]! };
};
