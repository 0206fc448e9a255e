import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { flipPay, influenceReturns } from '../../recipes/maporl/influence.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { play } from './play-questions.ts';

const maporl = shipped.find('maporl');

const close = (rows: readonly (readonly (number | null)[])[]) =>
  rows.map((row) => row.map((value) => (value === null ? null : expect.closeTo(value, 5))));

test('an answer is worth its own score and, by γ, those of both agents after it', () => {
  // Of three turns the second has the mean 0 and the third ½: (1 + .3 · 0 + .09 · .5) / 1.39, and .045 / 1.39; then .3 · .5 / 1.3.
  const scores = [
    [1, 0],
    [0, 0],
    [1, 0],
  ];
  expect(influenceReturns(scores, 0.3)).toEqual(
    close([
      [0.751799, 0.032374],
      [0.115385, 0.115385],
      [1, 0],
    ]),
  );
  expect(influenceReturns(scores, 0)).toEqual(scores);
});

test('what depends on a missing score is missing', () => {
  const scores = [
    [1, null],
    [1, 1],
    [null, 0],
  ];
  expect(influenceReturns(scores, 0.3)).toEqual([
    [null, null],
    [null, null],
    [null, 0],
  ]);
  expect(influenceReturns(scores, 0)).toEqual(scores);
});

test('changes of mind are paid by what was heard, and led changes by what was said', () => {
  const weights = { own: { others: 2, alone: 3 }, led: { right: 5, wrong: 7 } };
  // The first agent is wrong and goes to right beside one that is right; the other goes from right to wrong beside a wrong one.
  const scores = [
    [0, 1],
    [1, 0],
  ];
  expect(flipPay(scores, weights)).toEqual([
    [-7, 5],
    [2, -3],
  ]);
  const still = [
    [0, 1],
    [0, 1],
  ];
  expect(
    flipPay(still, weights)
      .flat()
      .every((pay) => pay === 0),
  ).toBe(true);
});

/** Of two debates about "Say one" the first goes (one, six) → (one, one), the second (six, one) → (one, six). */
const debated = (variant?: string) => {
  const prompts: string[] = [];
  const says = (role: string, prompt: string): readonly string[] => {
    if (!prompt.includes('has been said so far')) return role === 'debater' ? ['one', 'six'] : ['six', 'one'];
    prompts.push(prompt);
    if (role === 'debater') return ['one'];
    return [prompt.includes('Your own answer:\nsix') ? 'one' : 'six'];
  };
  const sources = [{ weight: 1, tasks: [ONE] }];
  return play({
    recipe: 'maporl',
    tasks: 1,
    groupSize: 2,
    given: { sources },
    says,
    ...(variant ? { variant } : {}),
  }).then((played) => ({ ...played, prompts }));
};
const ONE = {
  messages: [{ role: 'user' as const, content: 'Say one' }],
  answer: 'one',
  metadata: {},
  difficulty: null,
  file: 'f',
  line: 1,
};

test('a round: agents read each other, and each is trained on its own answers', async () => {
  const { groups, plan, read, prompts } = await debated();
  const [{ samples }] = groups as [(typeof groups)[0]];
  expect(samples.map((sample) => [sample.episode, sample.turn, sample.role, read(sample)])).toEqual([
    [0, 0, 'debater', 'one'],
    [0, 0, 'partner', 'six'],
    [0, 1, 'debater', 'one'],
    [0, 1, 'partner', 'one'],
    [1, 0, 'debater', 'six'],
    [1, 0, 'partner', 'one'],
    [1, 1, 'debater', 'one'],
    [1, 1, 'partner', 'six'],
  ]);
  expect(prompts[0]).toContain(
    'Say one\n\nThis has been said so far:\n\nYour own answer:\none\n\nSomebody else’s answer:\nsix\n',
  );
  // First debate: 1.3 / 1.3 + .5 for the other's change; .3 / 1.3; 1; 1 + .5. Second: .15 / 1.3 − .5; 1.15 / 1.3 + .5; 1 + .5; 0 − .5.
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual(
    [1.5, 0.230769, 1, 1.5, -0.384615, 1.384615, 1.5, -0.5].map((value) => expect.closeTo(value, 5)),
  );
  expect(samples.map(({ rewards }) => rewards.score)).toEqual([1, 0, 1, 1, 0, 1, 1, 0]);
  expect(plan.updates.map(({ set }) => set)).toEqual(['main', 'partner']);
  const advantages = plan.updates.map(({ parts }) =>
    (parts[0] as PolicyPart).items.map(({ advantage }) => Math.sign(advantage as number)),
  );
  expect(advantages).toEqual([
    [1, -1, -1, 1],
    [-1, 1, 1, -1],
  ]);
  expect(plan.figures).toEqual({ firstExact: 1 / 2, lastExact: 3 / 4 });
});

test('variants: the partner keeps its weights; nobody is paid for later turns; changes are not paid', async () => {
  const { plan } = await debated('untrained-partner');
  expect(plan.updates.map(({ set }) => set)).toEqual(['main']);
  const rewards = async (variant: string) =>
    (await debated(variant)).groups[0]!.samples.map((sample) => sample.rewards.reward);
  expect(await rewards('no-influence')).toEqual([1, 0, 1, 1.5, 0, 1, 1.5, -0.5]);
  expect(await rewards('no-flips')).toEqual(
    [1, 0.230769, 1, 1, 0.115385, 0.884615, 1, 0].map((value) => expect.closeTo(value, 5)),
  );
});

test('on sums an agent is shown what the other one answered, if that is an answer', async () => {
  const shown = new Set<string>();
  const { groups } = await playWritten(
    maporl,
    (prompt) => {
      const [task, aid] = prompt.slice('<solve>'.length).split('<sep>') as [string, string];
      if (aid) shown.add(aid);
      const totals = runningTotals(task);
      return `${totals.map((total) => `<step>${total}`).join('')}<answer>${totals.at(-1)}<eos>`;
    },
    { tasks: 1, groupSize: 2 },
  );
  const totals = runningTotals(groups[0]!.task);
  expect([...shown]).toEqual([`${totals.map((total) => `<step>${total}`).join('')}<answer>${totals.at(-1)}`]);
  const { groups: silent } = await playWritten(maporl, () => 'x<eos>', { tasks: 1, groupSize: 2 });
  expect(new Set(silent[0]!.samples.map(({ prompt }) => prompt.join())).size).toBe(1);
});
