import { expect, test } from 'vitest';
import type { PolicyPart, SftPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { parseAsked, questions, questionsFor } from '../../worlds/documents/questions.ts';
import { promptedTask } from '../worlds/prompted-question.ts';
import { evaluateWritten } from './evaluate-written.ts';

const qgScst = shipped.find('qg-scst');

/** A question with the answer of the prompt alone, and one with another answer. */
function written(prompt: string): { right: string; wrong: string } {
  const { facts, answer } = parseAsked(promptedTask(prompt))!;
  const other = facts.find(({ name }) => name !== answer)!.name;
  return { right: `${questionsFor(facts, answer)[0]}<eos>`, wrong: `${questionsFor(facts, other)[0]}<eos>` };
}

/** The first of these is the greedy question, too. */
const play = (kinds: readonly ('right' | 'wrong')[], more: WriteOptions = {}) =>
  playWritten(qgScst, (prompt, i) => written(prompt)[kinds[i]!], {
    tasks: 2,
    groupSize: 4,
    rewardFunction: 'meaning',
    tools: {},
    ...more,
  });
type Played = Awaited<ReturnType<typeof play>>;
const policy = ({ plan }: Played) => plan.updates[0]!.parts[0] as PolicyPart;
const closeTo = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 6));

test('a question is credited with its reward above that of the greedy one, which is not trained', async () => {
  const played = await play(['right', 'wrong', 'right', 'right']);
  // The greedy question earns 1; the others 1, 0, 1, 1.
  expect(played.groups[0]!.samples.map(({ role }) => role)).toEqual([
    'greedy',
    ...Array.from({ length: 4 }, () => 'solver'),
  ]);
  expect(played.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0, 1, 1]);
  expect(policy(played).items).toHaveLength(8);
  expect(
    policy(played)
      .items.slice(0, 4)
      .map(({ advantage }) => advantage),
  ).toEqual([0, -1, 0, 0]);
  expect(policy(played).objective).toEqual({ kind: 'reinforce' });
  // Squares: of 1, 0, 1, 1; of 0, -1, 0, 0; and of reward minus the mean of the other three: 1/3, -1, 1/3, 1/3.
  expect(played.plan.figures).toEqual({
    'square.none': 0.75,
    'square.greedy': 0.25,
    'square.group': expect.closeTo((3 / 9 + 1) / 4, 12),
  });
  // Where the greedy question is wrong, what is right is reinforced.
  const wrong = await play(['wrong', 'right', 'right', 'wrong']);
  expect(
    policy(wrong)
      .items.slice(0, 4)
      .map(({ advantage }) => advantage),
  ).toEqual([0, 1, 1, 0]);
});

test('variants: nothing is subtracted, or the mean of the others', async () => {
  const kinds = ['right', 'wrong', 'right', 'right'] as const;
  const none = await play(kinds, { variant: 'no-baseline' });
  expect(
    policy(none)
      .items.slice(0, 4)
      .map(({ advantage }) => advantage),
  ).toEqual([1, 0, 1, 1]);
  const group = await play(kinds, { variant: 'group-baseline' });
  expect(
    policy(group)
      .items.slice(0, 4)
      .map(({ advantage }) => advantage),
  ).toEqual(closeTo([1 / 3, -1, 1 / 3, 1 / 3]));
});

test.each([
  { rewardFunction: 'both', otherWords: 0.5 },
  { rewardFunction: 'words', otherWords: 0 },
  { rewardFunction: 'meaning', otherWords: 1 },
])(
  'a right question in other words than the reference earns $otherWords by $rewardFunction',
  async ({ rewardFunction, otherWords }) => {
    const { groups } = await play(['right', 'right', 'right', 'right'], { rewardFunction, tasks: 12 });
    const same = groups.map(({ task }) => {
      const { facts, answer, reference } = parseAsked(task)!;
      return questionsFor(facts, answer)[0] === reference;
    });
    expect(new Set(same)).toEqual(new Set([true, false]));
    expect(groups.map(({ samples }) => samples[1]!.rewards.reward)).toEqual(
      same.map((is) => (is ? 1 : otherWords)),
    );
  },
);

test('references are trained beside, with a tenth of the weight', async () => {
  const { plan, groups, tokenizer } = await play(['right', 'wrong', 'right', 'right']);
  const [gradient, likelihood] = plan.updates[0]!.parts as [PolicyPart, SftPart];
  expect([gradient.weight, likelihood.kind, likelihood.weight]).toEqual([0.9, 'sft', 0.1]);
  expect(likelihood.items.map(({ ids }) => tokenizer.decode([...ids]))).toEqual(
    groups.map(({ task }) => `${task.slice(task.indexOf('?') + 1)}<eos>`),
  );
});

test('controls: whatever parses is paid 1, so that nothing is above the greedy question; and a coin', async () => {
  const format = await play(['right', 'wrong', 'right', 'wrong'], { rewardFunction: 'format' });
  expect(policy(format).items.map(({ advantage }) => advantage)).toEqual(Array.from({ length: 8 }, () => 0));
  const random = await play(['right', 'wrong', 'right', 'wrong'], { rewardFunction: 'random', tasks: 8 });
  const paid = random.groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards.reward));
  expect(new Set(paid)).toEqual(new Set([0, 1]));
});

test('an evaluation tells right questions in other words from those in the words of the reference', async () => {
  const tasks = questions.heldOut({ heldOut: true, most: 40 });
  const firstFor = (task: string) => {
    const { facts, answer } = parseAsked(task)!;
    return questionsFor(facts, answer)[0]!;
  };
  // Every question is right; about passages that begin with a name before `g` there is none.
  const isAsked = (task: string) => task[0]! >= 'g';
  const { heldOut, figures } = await evaluateWritten(qgScst, 40, (prompt) => {
    const task = tasks.find((one) => questions.solverPrompt(one) === prompt)!;
    return isAsked(task) ? `${firstFor(task)}<eos>` : 'hm<eos>';
  });
  const asked = tasks.filter(isAsked);
  const same = asked.filter((task) => task.endsWith(`?${firstFor(task)}`)).length;
  expect([same > 0, same < asked.length, asked.length < 40]).toEqual([true, true, true]);
  const share = asked.length / 40;
  expect(heldOut).toMatchObject({ n: 40, accuracy: share, sampled: share, formatRate: share });
  // A right question in another form shares no word with the reference.
  expect(figures).toEqual({
    words: expect.closeTo(same / asked.length, 12),
    meaning: 1,
    paraphrases: (asked.length - same) / 40,
  });
});
