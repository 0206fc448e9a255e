import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { mentions } from '../../core/text/mentions.ts';
import { needsIn } from '../../worlds/questions/needs.ts';
import { beginUser, TEMPERS, userAfter } from '../../worlds/users/scripted-user.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

const NEEDS = ['price', 'days'].map((wants) => ({
  wants: `the ${wants}`,
  told: wants,
  isMet: (reply: string) => reply.includes(wants),
}));
const after = (replies: readonly string[], temper: keyof typeof TEMPERS) =>
  replies.reduce((user, reply) => userAfter(user, NEEDS, TEMPERS[temper], reply), beginUser(NEEDS));

test('the mood follows from what is said, and a guarded user says after two vain replies what he wants', () => {
  // 50 + 25, − 15, − 15 and 15 more for the same again, + 25.
  const replies = ['the price is 3', 'well', 'well', 'two days'];
  const moods = replies.map((_, i) => after(replies.slice(0, i + 1), 'guarded'));
  expect(moods.map(({ mood }) => mood)).toEqual([75, 60, 30, 55]);
  expect(moods.map(({ says }) => says)).toEqual([
    'That helps. Something is missing.',
    'That does not help me.',
    'You said that before. I want to know: the days.',
    null,
  ]);
  expect(after(['price and days'], 'guarded')).toMatchObject({ mood: 100, says: null });
});

test('an open user says at once what he wants, and a harsh one leaves', () => {
  expect(after(['well'], 'open')).toMatchObject({
    mood: 40,
    says: 'That does not help me. I want to know: the price.',
  });
  expect(after(['the price'], 'open')).toMatchObject({
    mood: 75,
    says: 'That helps. I want to know: the days.',
  });
  expect(after(['well'], 'harsh')).toMatchObject({ mood: 20, says: 'That does not help me.' });
  expect(after(['well', 'hm'], 'harsh')).toMatchObject({ mood: 0, says: null });
});

test('words are found whatever their case and what stands between them, and not inside others', () => {
  expect(mentions('It takes 30 Minutes.', 'minutes')).toBe(true);
  expect(mentions('A refund—today', 'refund today')).toBe(true);
  expect(mentions('refunded', 'refund')).toBe(false);
  expect([mentions('3+4=7', '='), mentions('seven', '='), mentions('a', ' ')]).toEqual([true, false, false]);
});

test('a row may list needs, and what is no list of needs is seen', () => {
  const needs = [{ wants: 'the price', words: ['euros', '€'] }];
  expect(needsIn({ metadata: { needs } })).toEqual(needs);
  expect(needsIn({ metadata: {} })).toEqual([]);
  for (const wrong of ['price', [], [{ wants: 'x' }], [{ wants: 'x', words: [] }], null])
    expect(needsIn({ metadata: { needs: wrong } })).toBeNull();
});

const sources = (metadata: object = {}) => [
  { weight: 1, tasks: [{ ...sayTask('Say one', 'one', 1), metadata }] },
];

test('a round: the mood at the end pays every reply of a talk', async () => {
  const prompts: string[] = [];
  const { groups, plan } = await play({
    recipe: 'rlver',
    tasks: 1,
    groupSize: 2,
    given: { sources: sources() },
    says: (_, prompt) => {
      prompts.push(prompt);
      return prompt.includes('does not help') ? ['six'] : ['one', 'six'];
    },
  });
  const [{ samples, answersExact }] = groups as [(typeof groups)[0]];
  // The right answer at once is 100. Twice the wrong one is 50 − 15 − 15 − 15, at which the user leaves.
  expect(samples.map(({ turn, rewards }) => [turn, rewards.reward])).toEqual([
    [0, 1],
    [0, 0.05],
    [1, 0.05],
  ]);
  expect(answersExact).toEqual([true, false, false]);
  expect(prompts[1]).toContain('six<|im_end|>\n<|im_start|>user\nThat does not help me.<|im_end|>');
  const { items } = plan.updates[0]!.parts[0] as PolicyPart;
  expect(items.map(({ advantage }) => advantage)).toEqual(
    [1, -1, -1].map((sign) => expect.closeTo(sign * Math.SQRT1_2, 4)),
  );
  expect(plan.figures).toEqual({ replies: 1.5 });
});

test('a user with needs of his own is not content with the answer alone', async () => {
  const needs = [
    { wants: 'the number', words: ['one'] },
    { wants: 'why', words: ['because'] },
  ];
  const { groups } = await play({
    recipe: 'rlver',
    variant: 'open',
    tasks: 1,
    groupSize: 1,
    given: { sources: sources({ needs }) },
    says: (_, prompt) => [prompt.includes('I want to know: why.') ? 'Because it is.' : 'one'],
  });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1]);
});

test('needs that cannot be read are named with their line', async () => {
  const given = { sources: sources({ needs: ['price'] }) };
  await expect(
    play({ recipe: 'rlver', tasks: 1, groupSize: 1, given, says: () => ['one'] }),
  ).rejects.toMatchObject({
    code: 'tasks.lacks',
    message: expect.stringContaining('line 1 of f'),
    expected: expect.stringMatching(/^a field "needs" like .*, or none, in every line$/),
    next: expect.stringContaining('Correct the file'),
  });
});
