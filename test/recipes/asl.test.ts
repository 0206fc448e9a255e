import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { majorityOf, verdictEntropy } from '../../recipes/asl/recipe.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

test('the majority of verdicts, and none where as many say the one as the other', () => {
  expect(majorityOf([true, true, false, null])).toBe(true);
  expect(majorityOf([false, null])).toBe(false);
  expect([majorityOf([true, false]), majorityOf([null]), majorityOf([])]).toEqual([null, null, null]);
});

test('a question is worth the entropy of its verdicts', () => {
  // −¼ ln ¼ − ¾ ln ¾ = .34657 + .21576; ln 2 at one half.
  expect(verdictEntropy([1, 0, 0, 0, null])).toBeCloseTo(0.56234, 4);
  expect(verdictEntropy([1, 0])).toBeCloseTo(Math.LN2, 6);
  expect([verdictEntropy([1, 1]), verdictEntropy([null])]).toEqual([0, null]);
});

const given = { sources: [{ weight: 1, tasks: [sayTask('Say one', 'one', 1)] }] };
const texts = (wrote: (role: string, prompt: string) => readonly string[]) => ({ given, says: wrote });

test('a generator’s round: it writes a question, which is answered, judged and kept', async () => {
  const { proposals, groups, plan } = await play({
    recipe: 'asl',
    tasks: 1,
    groupSize: 2,
    ...texts((role, prompt) => {
      if (role === 'generator') return ['Say four'];
      if (role === 'solver') return ['four', 'six'];
      return [prompt.includes('four\n\nIs') ? '<answer>yes</answer>' : '<answer>no</answer>'];
    }),
  });
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual(['ok']);
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0]);
  // Nobody knows the answer to what was written.
  expect(groups[0]!.answersExact).toEqual([null, null]);
  const { questions } = plan.recipeState as { questions: { task: string; rate: number }[] };
  expect(questions.map(({ task, rate }) => [JSON.parse(task).messages[0].content, rate])).toEqual([
    ['Say four', 0.5],
  ]);
  expect(plan.figures!.entropy).toBeCloseTo(Math.LN2, 6);
});

const question = (content: string) =>
  JSON.stringify({
    messages: [{ role: 'user', content }],
    answer: '',
    metadata: {},
    difficulty: null,
    proposed: true,
  });

test('it asks for harder questions after those that are answered, and for easier ones after the others', async () => {
  const asked: string[] = [];
  await play({
    recipe: 'asl',
    index: 5,
    tasks: 3,
    groupSize: 2,
    recipeState: {
      questions: [
        { task: question('Say ten'), rate: 0.5 },
        { task: question('Say ant'), rate: 0.4 },
      ],
    },
    ...texts((role, prompt) => {
      if (role === 'generator') asked.push(prompt);
      return ['x'];
    }),
  });
  const wishOf = (text: string) => /Write [^:.]*/.exec(asked.find((prompt) => prompt.includes(text))!)![0];
  expect([wishOf('Say ten'), wishOf('Say ant'), wishOf('Say one')]).toEqual([
    'Write a harder version of this question',
    'Write an easier version of this question',
    'Write a question about something else that is just as hard and asks for the same kind of answer',
  ]);
});

/** Three verdicts call the first answer right and one wrong; of the second one two do. */
const judged = (more: { variant?: string; reward?: string } = {}) =>
  play({
    recipe: 'asl',
    index: 2,
    tasks: 1,
    groupSize: 2,
    ...texts((role, prompt) => {
      if (role === 'solver') return ['six', 'one'];
      const [yes, no] = ['<answer>yes</answer>', '<answer>no</answer>'];
      return prompt.includes('six\n\nIs') ? [yes, yes, yes, no] : [yes, no, no, yes];
    }),
    ...more,
  });

test('a judge’s round: the majority of its verdicts is its label, without the checker', async () => {
  const { groups, plan } = await judged();
  const [{ samples, judgments }] = groups as [(typeof groups)[0]];
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, null]);
  expect(judgments.map(({ rewards }) => rewards.agreement)).toEqual([1, 1, 1, 0, null, null, null, null]);
  const { items, role } = plan.updates[0]!.parts[0] as PolicyPart;
  expect([role, items.length]).toEqual(['judge', 4]);
  // Of 1 1 1 0 the mean is 3/4 and the deviation √3/4.
  expect(items.map(({ advantage }) => advantage)).toEqual(
    [1, 1, 1, -3].map((value) => expect.closeTo(value / Math.sqrt(3), 4)),
  );
  // It called a wrong answer right: reward 1, exact 0.
  expect(plan.figures).toEqual({ rewardGap: 1 });
});

test('frozen, nothing is trained on verdicts; with gold the checker labels them', async () => {
  expect((await judged({ variant: 'frozen' })).plan.updates).toEqual([]);
  const gold = await judged({ reward: 'gold' });
  expect(gold.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([0, 1]);
  expect(gold.groups[0]!.judgments.map(({ rewards }) => rewards.agreement)).toEqual([0, 0, 0, 1, 1, 0, 0, 1]);
});

test('a solver’s round: the judge’s verdict pays', async () => {
  const { groups, plan } = await play({
    recipe: 'asl',
    index: 3,
    tasks: 1,
    groupSize: 2,
    ...texts((role, prompt) => {
      if (role === 'solver') return ['six', 'one'];
      return [prompt.includes('six\n\nIs') ? 'yes' : 'no'];
    }),
  });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0]);
  expect((plan.updates[0]!.parts[0] as PolicyPart).role).toBe('solver');
  // One wrong answer is paid, and one right one is not.
  expect(plan.figures).toEqual({ rewardGap: 0 });
});

test('both kinds of labels count the same', async () => {
  const { plan } = await play({
    recipe: 'asl',
    index: 2,
    tasks: 1,
    groupSize: 3,
    ...texts((role, prompt) => {
      if (role === 'solver') return ['six', 'one', 'six'];
      const [yes, no] = ['<answer>yes</answer>', '<answer>no</answer>'];
      return prompt.includes('six\n\nIs') ? [no, no, no, yes] : [yes, yes, yes, no];
    }),
  });
  const { items } = plan.updates[0]!.parts[0] as PolicyPart;
  const weightOf = (at: readonly number[]) =>
    at.reduce((sum, i) => sum + Math.abs(items[i]!.advantage as number), 0);
  // Eight verdicts on the two wrong answers weigh as much as four on the right one.
  expect(items).toHaveLength(12);
  expect(weightOf([0, 1, 2, 3, 8, 9, 10, 11])).toBeCloseTo(weightOf([4, 5, 6, 7]), 4);
});

test('late gold labels a few answers, and none before its round', async () => {
  const right = async (rounds: readonly number[]) => {
    let count = 0;
    for (const index of rounds) {
      const { groups } = await play({
        recipe: 'asl',
        index,
        tasks: 1,
        groupSize: 64,
        reward: 'late-gold',
        ...texts((role) => [role === 'solver' ? 'one' : '<answer>no</answer>']),
      });
      count += groups[0]!.samples.filter(({ rewards }) => rewards.reward === 1).length;
    }
    return count;
  };
  expect(await right([3, 4, 7, 8])).toBe(0);
  // Of 256 two in a hundred: five, give or take 2.2.
  const late = await right([11, 12, 15, 16]);
  expect(late).toBeGreaterThan(0);
  expect(late).toBeLessThan(16);
});

test('a proposal that cannot be read earns nothing', async () => {
  const { proposals, plan } = await play({
    recipe: 'asl',
    index: 5,
    tasks: 2,
    groupSize: 2,
    recipeState: { questions: [{ task: question('Say ten'), rate: 0.5 }] },
    ...texts((role, prompt) => {
      if (role === 'generator') return [prompt.includes('Say ten') ? '' : 'Say four'];
      if (role === 'solver') return ['four', 'six'];
      return [prompt.includes('four\n\nIs') ? '<answer>yes</answer>' : '<answer>no</answer>'];
    }),
  });
  expect(proposals.samples.filter(({ outcome }) => outcome === 'ok')).toHaveLength(1);
  // ln 2 of the one question, and 0.
  expect(plan.figures).toMatchObject({ admitted: 1, entropy: expect.closeTo(Math.LN2 / 2, 6) });
});
