/** Recipes on questions of files that were bound to their own worlds once: what each role is shown, and what is paid and trained. */
import { expect, test } from 'vitest';
import type { PolicyPart, PreferencePart, SftPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { differing, elsewhere } from '../../recipes/rrpo/differing.ts';
import { answerForm } from '../../worlds/questions/form.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

const word = (prompt: string) => /Say (?:the word )?(\w+)/.exec(prompt)![1]!;
const rewardsOf = ({
  samples,
}: {
  samples: readonly { rewards: { readonly [name: string]: number | null } }[];
}) => samples.map(({ rewards }) => rewards.reward);

test('scma: the lines before the last are cut and weighed, and cost by how little the result depends on them', async () => {
  const shown: string[] = [];
  const { groups, plan } = await play({
    recipe: 'scma',
    tasks: 1,
    groupSize: 2,
    given: { settings: { maxNew: 64 } },
    says: (role, prompt) => {
      if (role !== 'solver') shown.push(prompt);
      if (role === 'segmenter') return ['<answer>1, 3</answer>'];
      if (role === 'scorer') return ['<answer>5, 3</answer>'];
      return [`a\nb\nc\n<answer>${word(prompt)}</answer>`, '<answer>x</answer>'];
    },
  });
  expect(shown).toHaveLength(2);
  expect(shown[0]).toContain('1. a\n2. b\n3. c');
  expect(shown[1]).toContain('1. a b\n2. c');
  // `c` is one byte of importance 1/2, where 64 tokens of none cost 3.2; an answer alone has no lines before its last.
  expect(rewardsOf(groups[0]!)).toEqual([expect.closeTo(1 - (0.5 * 3.2) / 64), 0]);
  const roles = plan.updates[0]!.parts.map((part) => part.role);
  expect(roles).toEqual(['solver', 'segmenter', 'scorer']);
});

test('co-reward: half of the answers are to the question in other words, and each half labels the other', async () => {
  const { groups, plan } = await play({
    recipe: 'co-reward',
    tasks: 1,
    groupSize: 6,
    says: (role, prompt) => {
      if (role === 'rephraser') return [`Say the word ${word(prompt)}`];
      return prompt.includes('Say the word') ? ['b', 'b', 'a'] : ['a', 'b', 'a'];
    },
  });
  const [group] = groups;
  expect(group!.samples.map(({ role }) => role)).toEqual([...new Array(6).fill('solver'), 'rephraser']);
  // Most say a to the question, so a is paid in other words; most say b there.
  expect(rewardsOf(group!)).toEqual([0, 1, 0, 0, 0, 1, undefined]);
  const { items } = plan.updates[0]!.parts[0] as PolicyPart;
  expect(items).toHaveLength(6);
  expect(JSON.parse(group!.samples[3]!.about!).messages[0].content).toMatch(/^Say the word/);
});

test('co-reward: without other words both halves answer the question as it is', async () => {
  const { groups } = await play({
    recipe: 'co-reward',
    tasks: 1,
    groupSize: 4,
    says: (role) => (role === 'rephraser' ? ['  '] : ['a', 'a', 'b', 'b']),
  });
  expect(rewardsOf(groups[0]!)).toEqual([0, 0, 0, 0, undefined]);
  expect(groups[0]!.samples[2]!.about).toBe(groups[0]!.task);
});

test('self-taught-evaluators: the answer to a question is better than that to another, in both orders', async () => {
  const { groups, plan, read } = await play({
    recipe: 'self-taught-evaluators',
    tasks: 1,
    groupSize: 2,
    says: (role, prompt) => {
      if (role === 'varier') return ['Say four'];
      if (role === 'writer') return [word(prompt)];
      return /Answer A:\nfour/.test(prompt) ? ['<answer>B</answer>', '<answer>A</answer>'] : ['A', 'no'];
    },
  });
  const [{ samples, judgments, answersExact }] = groups as [(typeof groups)[0]];
  expect(samples.map(read)).toEqual([expect.stringMatching(/^(one|two)$/), 'four', 'Say four']);
  expect(answersExact).toEqual([true, false, null]);
  expect(judgments.map(({ about, rewards }) => [about, rewards.agreement])).toEqual([
    ['A', 1],
    ['A', 0],
    ['B', 1],
    ['B', 0],
  ]);
  const { items } = plan.updates[0]!.parts[0] as SftPart;
  expect(items).toHaveLength(2);
});

test('mr-rlvr: gaps are paid by what stood there, and lines by their place', async () => {
  const solution = 'Ten less nine.\nThat makes 1.\nWe say one.';
  const missing = { 0: 'nine', 1: '1', 2: 'one' } as const;
  const kinds = new Set<string>();
  for (let index = 1; index <= 6; index++) {
    const { groups } = await play({
      recipe: 'mr-rlvr',
      index,
      tasks: 1,
      groupSize: 2,
      given: {
        sources: [{ weight: 1, tasks: [{ ...sayTask('Say one', 'one', 1), solution }] }],
        settings: { maxNew: 48 },
      },
      says: (_, prompt) => {
        if (prompt.includes('____')) {
          kinds.add('fill');
          const lines = prompt.split('marked ____:\n')[1]!.split('\n').slice(0, 3);
          const parts = lines.flatMap((line, i) => (line.includes('____') ? [missing[i as 0 | 1 | 2]] : []));
          expect(parts).toHaveLength(2);
          return [`<answer>${parts.join('; ')}</answer>`, `<answer>${parts[0]}; x</answer>`];
        }
        kinds.add('sort');
        const lines = prompt.split('not in their order:\n')[1]!.split('\n').slice(0, 3);
        const order = solution.split('\n').map((line) => lines.findIndex((one) => one.slice(3) === line) + 1);
        const [first, second, third] = order;
        return [`<answer>${order.join(', ')}</answer>`, `<answer>${first}, ${third}, ${second}</answer>`];
      },
    });
    const second = kinds.size && rewardsOf(groups[0]!)[1];
    expect(rewardsOf(groups[0]!)[0]).toBe(1);
    expect([1 / 2, 1 / 3]).toContain(second);
  }
  expect([...kinds].sort()).toEqual(['fill', 'sort']);
});

test('weak-sup: noisy labels are the answers of other questions, two in five, and the same in every round', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `w${i}`);
  const given = {
    sources: [{ weight: 1, tasks: names.map((name, i) => sayTask(`Say ${name}`, name, i + 1)) }],
  };
  const paid = async (reward: string, index: number) => {
    const says = (_: string, prompt: string) => [word(prompt)];
    const { groups } = await play({
      recipe: 'weak-sup',
      given,
      tasks: 40,
      groupSize: 1,
      reward,
      index,
      says,
    });
    return new Map(groups.map((group) => [group.task, rewardsOf(group)[0]]));
  };
  const [first, later, few] = [await paid('noisy', 1), await paid('noisy', 2), await paid('few', 1)];
  const right = [...first.values()].filter((reward) => reward === 1).length;
  // 0.6 of 40 with a deviation of 3.1.
  expect(right).toBeGreaterThan(14);
  expect(right).toBeLessThan(34);
  for (const [task, reward] of later) expect(first.get(task)).toBe(reward);
  expect(few.size).toBe(8);
  expect([...few.values()]).toEqual(new Array(8).fill(1));
});

test('rrpo: a right answer is preferred to itself with a mistake, by the tokens in which they differ', async () => {
  const { plan, read } = await play({
    recipe: 'rrpo',
    tasks: 1,
    groupSize: 2,
    says: (role, prompt) => {
      if (role === 'spoiler')
        return [prompt.includes('one') ? 'say <answer>ore</answer>' : 'say <answer>twe</answer>'];
      return [`say <answer>${word(prompt)}</answer>`, 'six'];
    },
  });
  const [preference, leash] = plan.updates[0]!.parts as [PreferencePart, SftPart];
  expect(preference.pairs).toHaveLength(1);
  const [{ chosen, rejected, spans }] = preference.pairs as [(typeof preference.pairs)[0]];
  expect([read(chosen), read(rejected)]).toEqual([
    expect.stringMatching(/^say <answer>(one|two)<\/answer>$/),
    expect.stringMatching(/^say <answer>(ore|twe)<\/answer>$/),
  ]);
  expect(spans!.map((marks) => marks.reduce((sum, mark) => sum + mark, 0))).toEqual([1, 1]);
  expect(leash.items).toHaveLength(1);
});

test('eva: prompts are rewritten where most could still be gained, and graded as their responses are', async () => {
  const asked: string[] = [];
  const says = (role: string, prompt: string) => {
    asked.push(role);
    if (role === 'creator') return ['Say four'];
    if (role === 'judge') return prompt.includes('good') ? ['<answer>5</answer>'] : ['<answer>0</answer>'];
    return ['good', 'bad'];
  };
  const first = await play({ recipe: 'eva', tasks: 2, groupSize: 2, says });
  expect(first.groups.map(rewardsOf)).toEqual([
    [1, 0],
    [1, 0],
  ]);
  expect((first.plan.updates[0]!.parts[0] as PreferencePart).pairs).toHaveLength(2);
  expect(asked).not.toContain('creator');
  const { recipeState } = first.plan;
  const next = await play({ recipe: 'eva', tasks: 2, groupSize: 2, index: 2, recipeState, says });
  // Two are asked for and the second is the same question again: one of those that were trained on comes in its place.
  expect(next.proposals.samples.map(({ outcome }) => outcome)).toEqual(['ok', 'duplicate']);
  const texts = next.groups.map(({ task }) => JSON.parse(task).messages[0].content);
  expect(texts[0]).toBe('Say four');
  expect(['Say one', 'Say two']).toContain(texts[1]);
});

test('laser: the token that ends an answer is its score, against its own start', async () => {
  const says = (_: string, prompt: string) => [word(prompt), 'six'];
  const { plan } = await play({ recipe: 'laser', tasks: 2, groupSize: 2, says });
  // The scorer of this test gives every token −1 nat.
  expect(plan.recipeState).toEqual({ reference: -1 });
  expect(plan.updates[0]!.parts.map(({ kind }) => kind)).toEqual(['policy', 'log-ratio']);
  const later = await play({
    recipe: 'laser',
    tasks: 2,
    groupSize: 2,
    says,
    index: 2,
    recipeState: { reference: -11 },
  });
  expect(later.plan.recipeState).toEqual({ reference: -11 });
  // Ten nats likelier than at the start is a score of 1.
  expect(later.plan.figures!.scoreRight).toBeCloseTo(1);
});

test('specs: the first right answer, marked as the files want it, against one of five faults', () => {
  const { pair } = answerForm(['answer', 'whole']);
  const pairs = Array.from({ length: 60 }, (_, i) =>
    pair({ steps: ['It is \\boxed{7}.'], answer: '7' }, `${i}`),
  );
  expect(new Set(pairs.map(({ chosen }) => chosen))).toEqual(new Set(['It is 7.\n<answer>7</answer>']));
  expect(new Set(pairs.map(({ rejected }) => rejected))).toEqual(
    new Set([
      '<answer>7</answer>\nIt is 7.',
      'It is 7.\n7',
      'It is 7.\n7</answer> <answer>',
      'It is 7.\n<answer></answer> 7',
      'It is 7.\n<answer>7</answer>\n<answer>7</answer>',
    ]),
  );
});

test('what differs is left after the longest common subsequence', () => {
  expect(differing([1, 2, 3, 4], [1, 5, 4])).toEqual([
    [0, 1, 1, 0],
    [0, 1, 0],
  ]);
  const random = new Random('differing');
  for (let i = 0; i < 100; i++) {
    const [a, b] = [7, 9].map((length) => Array.from({ length }, () => random.int(4))) as [
      number[],
      number[],
    ];
    const [marksA, marksB] = differing(a, b);
    const left = (ids: readonly number[], marks: readonly number[]) => ids.filter((_, t) => marks[t] === 0);
    expect(left(a, marksA)).toEqual(left(b, marksB));
  }
  expect(elsewhere([0, 1, 0, 0], 's').filter((mark) => mark === 1)).toHaveLength(1);
  expect(elsewhere([0, 1, 0, 0], 's')[1]).toBe(0);
});
