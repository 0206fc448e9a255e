import { expect, test } from 'vitest';
import { stepEnds } from '../../protocols/examples/steps.ts';
import { rewardModel } from '../../recipes/reward-model/recipe.ts';
import { readRated } from '../../worlds/file/read-examples.ts';
import { writeTask } from '../../worlds/questions/task-text.ts';
import { recordsOf, solved } from './records.ts';

const bytes = (...rows: object[]) =>
  new TextEncoder().encode(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

test('rows are pairs, labelled answers, or steps with a label each; what is none of these is named', async () => {
  const rows = await readRated(
    'r.jsonl',
    bytes(
      { question: 'a', chosen: 'x', rejected: 'y' },
      { prompt: 'b', completion: 'z', label: false },
      { question: 'c', steps: ['one', 'two\nlines', 'end'], labels: [true, 1, '-'] },
    ),
  );
  expect(rows.map(({ answer, metadata }) => [answer, metadata])).toEqual([
    ['x', { rejected: 'y' }],
    ['z', { label: 0 }],
    ['one\ntwo lines\nend', { labels: [1, 1, 0] }],
  ]);
  const refused = (row: object) => readRated('r.jsonl', bytes(row));
  await expect(refused({ question: 'a', answer: 'b' })).rejects.toThrow(/no "rejected", "label" or "labels"/);
  await expect(refused({ question: 'a', answer: 'b', label: 'maybe' })).rejects.toThrow(
    /"maybe" is neither right nor wrong/,
  );
  await expect(refused({ question: 'a', steps: ['b'], labels: [1, 0] })).rejects.toThrow(
    /not two lists of the same length/,
  );
});

test('a step ends with the token that brings its line break, the last one with the answer', () => {
  const texts = ['on', 'e\n', '\n', 'two', '\nth', 'ree', '<end>'];
  const ends = stepEnds(
    { decode: (ids) => ids.map((id) => texts[id]).join('') },
    texts.map((_, i) => i),
  );
  // "one" ends with its second token, the blank line is none, "two" ends with the token that begins "three".
  expect(ends).toEqual([2, 5, 7]);
});

test('a round learns pairs by their odds, labels after the last token and steps after theirs', async () => {
  const task = (metadata: Record<string, unknown>) => {
    const read = { messages: [{ role: 'user' as const, content: 'q' }], answer: 'a', difficulty: null };
    return { ...read, metadata, file: 'f.jsonl', line: 1 };
  };
  const recipe = rewardModel.make({
    name: 'f.jsonl',
    start: 'p',
    sources: [{ weight: 1, tasks: [task({ label: 1 })] }],
    heldOut: [task({ label: 1 })],
    settings: {},
  });
  expect(recipe.sets.main).toMatchObject({ head: { kind: 'classes', count: 2 } });
  const texts = ['o', 'k\n', 'no', '<end>'];
  const decode = (ids: readonly number[]) => ids.map((id) => texts[id]).join('');
  const answer = (...ids: number[]) => ({ ...solved('x', 0), prompt: [9], ids, logprobs: ids.map(() => 0) });
  const group = (metadata: Record<string, unknown>, ...samples: ReturnType<typeof answer>[]) => ({
    task: writeTask(task(metadata)),
    samples,
  });
  const records = recordsOf('reward-model', [
    group({ rejected: 'y' }, answer(0, 3), answer(2, 3)),
    group({ label: 0 }, answer(2, 3)),
    group({ labels: [1, 0] }, answer(0, 1, 2, 3)),
    // Two labels, and one line: nothing says which is whose.
    group({ labels: [1, 0] }, answer(0, 3)),
    group({ label: 1 }, { ...answer(0, 3), outcome: 'too-long' }),
  ]);
  const plan = await recipe.learn(records, { decode } as never);
  expect(plan.figures).toEqual({ tooLong: 1, otherSteps: 1 });
  expect(plan.updates).toMatchObject([
    {
      set: 'main',
      parts: [
        { kind: 'reward-pairs', pairs: [{ chosen: { ids: [0, 3] }, rejected: { ids: [2, 3] } }] },
        {
          kind: 'classification',
          items: [
            { prompt: [9], ids: [2, 3], label: 0 },
            { prompt: [9], ids: [0, 1], label: 1 },
            { prompt: [9], ids: [0, 1, 2, 3], label: 0 },
          ],
        },
      ],
    },
  ]);
});
