import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { shapedRewards } from '../../recipes/marti/recipe.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

const answered = (score: number | null) => ({ score, reviews: false });
const review = { score: null, reviews: true };

test('a later answer is paid for being better than the answers before it, or for staying right', () => {
  // All were right: Q = 1. By the margin 1 + ½ · 0 and 0 − ½ · 1; by quality 1 + ½ · 1 and 0 + ½ (0 − 0).
  const debate = [
    [answered(1), answered(1)],
    [answered(1), answered(0)],
  ];
  expect(shapedRewards(debate)).toEqual([
    [1, 1],
    [1, -0.5],
  ]);
  expect(shapedRewards(debate, 'quality')).toEqual([
    [1, 1],
    [1.5, 0],
  ]);
  expect(shapedRewards(debate, 'no-shaping')).toEqual([
    [1, 1],
    [1, 0],
  ]);
  // Half were right: 1 + ½ · ½.
  expect(shapedRewards([[answered(1), answered(0)], [answered(1)]])).toEqual([[1, 0], [1.25]]);
});

test('a review is paid what the answer after it is paid, and a missing score leaves what depends on it unpaid', () => {
  expect(shapedRewards([[answered(0)], [review], [answered(1)]], 'chain')).toEqual([[0], [1.5], [1.5]]);
  expect(shapedRewards([[answered(null)], [review], [answered(1)]], 'chain')).toEqual([
    [null],
    [null],
    [null],
  ]);
});

const given = { sources: [{ weight: 1, tasks: [sayTask('Say one', 'one', 1)] }] };
const isFirst = (prompt: string) => !prompt.includes('has been said so far');

test('a round: each agent is trained on its own answers, whitened over their tokens', async () => {
  const { groups, plan } = await play({
    recipe: 'marti',
    tasks: 1,
    groupSize: 1,
    given,
    says: (role, prompt) => [isFirst(prompt) === (role === 'solver') ? 'one' : 'six'],
  });
  // Right, wrong; then 0 − ½ · ½ and 1 + ½ · ½.
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, -0.25, 1.25]);
  expect(plan.updates.map(({ set }) => set)).toEqual(['main', 'partner']);
  const [solver, partner] = plan.updates.map(({ parts }) => (parts[0] as PolicyPart).items);
  // Four tokens each, half of them .625 above and half below the mean: divided by the sample's deviation, .625 √(8/7).
  for (const [items, signs] of [
    [solver!, [1, -1]],
    [partner!, [-1, 1]],
  ] as const)
    for (const [i, { advantage }] of items.entries())
      expect(advantage).toEqual(Array(4).fill(expect.closeTo(signs[i]! * Math.sqrt(7 / 8), 4)));
});

test('a task whose answers are all right teaches nothing', async () => {
  const { plan } = await play({ recipe: 'marti', tasks: 1, groupSize: 2, given, says: () => ['one'] });
  expect(plan).toMatchObject({ updates: [], figures: { trainedGroups: 0 } });
});

test('in a chain the solver reads what the critic says of its answer; in a mixture it reads both answers', async () => {
  const prompts: string[] = [];
  const says = (role: string, prompt: string) => {
    prompts.push(prompt);
    return [role === 'critic' ? 'It is not six.' : isFirst(prompt) ? 'six' : 'one'];
  };
  const chain = await play({ recipe: 'marti', variant: 'chain', tasks: 1, groupSize: 1, given, says });
  const [{ samples, answersExact }] = chain.groups as [(typeof chain.groups)[0]];
  expect(samples.map(({ role, turn }) => `${role} ${turn}`)).toEqual(['solver 0', 'critic 1', 'solver 2']);
  expect(answersExact).toEqual([false, null, true]);
  expect(samples.map(({ rewards }) => rewards)).toEqual([
    { reward: 0, score: 0 },
    { reward: 1.5 },
    { reward: 1.5, score: 1 },
  ]);
  expect(prompts[1]).toContain('Somebody’s answer:\nsix\n');
  expect(prompts[2]).toContain(
    'Your own answer:\nsix\n\nWhat a critic said of the answer above:\nIt is not six.\n',
  );
  prompts.length = 0;
  const mixed = await play({ recipe: 'marti', variant: 'mixture', tasks: 1, groupSize: 1, given, says });
  expect(mixed.groups[0]!.samples.map(({ role, turn }) => `${role} ${turn}`)).toEqual([
    'solver 0',
    'partner 0',
    'solver 1',
  ]);
  expect(prompts.at(-1)).toContain('Your own answer:\nsix\n\nSomebody else’s answer:\nsix\n');
});
