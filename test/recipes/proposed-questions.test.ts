/** Recipes whose policy writes questions of its own, on questions of files: what is admitted, who says what is right, and what is paid. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import type { PolicyPart, PreferencePart } from '../../core/plan/training-plan.ts';
import { type Played, play } from './play-questions.ts';
import { sayTask } from './say.ts';

const said = (prompt: string) => /Say (\w+)/.exec(prompt)![1]!;

test('trio: what the policy asks is labelled by the majority, what a file asks by its answer', async () => {
  const { proposals, groups, plan } = await play({
    recipe: 'trio',
    tasks: 2,
    groupSize: 4,
    says: (role, prompt) => {
      if (role === 'proposer') return [' Say four '];
      if (role === 'judge') return ['<answer>yes</answer>'];
      // Three say `x`, whatever was asked, and one the right word.
      return ['x', 'x', said(prompt), 'x'];
    },
  });
  const [proposal] = proposals.samples;
  expect(groups.map((group) => group.proposal)).toEqual([proposal!.id, null]);
  const [own, given] = groups;
  expect(JSON.parse(own!.task).messages).toEqual([{ role: 'user', content: 'Say four' }]);
  expect(own!.samples.map(({ rewards }) => rewards.passed)).toEqual([1, 1, 0, 1]);
  expect(given!.samples.map(({ rewards }) => rewards.passed)).toEqual([0, 0, 1, 0]);
  expect(own!.answersExact).toEqual([null, null, null, null]);
  expect(given!.answersExact).toEqual([false, false, true, false]);
  for (const { samples, judgments } of groups) {
    const passed = samples.map(({ rewards }) => rewards.passed!);
    // The judge calls everything right: 0.8 for the label and 0.2 for the judge's word, which is one step.
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual(
      passed.map((one) => expect.closeTo(0.8 * one + 0.2)),
    );
    expect(judgments.map(({ rewards }) => rewards.agreement)).toEqual(passed);
  }
  // Nobody knows whether a verdict on the policy's own question hits.
  expect(own!.judgments.map(({ oracle }) => oracle)).toEqual(new Array(4).fill(undefined));
  expect(given!.judgments.map(({ oracle }) => oracle?.hit)).toEqual([false, false, true, false]);
  // 4p(1 - p) at p = 3/4.
  expect(plan.earnings).toEqual({ [proposal!.id]: 0.75 });
});

/** A question that cannot be understood without what was said before it. */
const talk = (word: string, line: number) => ({
  ...sayTask('', word, line),
  messages: [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: `My word is ${word}.` },
    { role: 'assistant' as const, content: 'I see.' },
    { role: 'user' as const, content: 'Say it' },
  ],
});
const TALKS = {
  sources: [{ weight: 1, tasks: [talk('one', 1), talk('two', 2)] }],
  heldOut: [talk('three', 3)],
};

test.each([
  ['trio', 'proposer'],
  ['r-zero', 'challenger'],
  ['co-reward', 'rephraser'],
  ['self-taught-evaluators', 'varier'],
  ['ttcs', 'synthesizer'],
])(
  '%s: who writes a question sees the talk that the example belongs to, and the new one stands in it',
  async (recipe, writer) => {
    const shown: string[] = [];
    const { groups, proposals } = await play({
      recipe,
      tasks: 2,
      groupSize: 2,
      given: TALKS,
      says: (role, prompt) => {
        if (role !== writer) return ['<answer>yes</answer>'];
        shown.push(prompt);
        return ['Spell it'];
      },
    });
    for (const prompt of shown)
      expect(prompt).toMatch(
        /user: My word is (one|two|three)\.\n\nassistant: I see\.\n\nuser: Say it\n\n\(The question is the last message\. /,
      );
    expect(shown.join()).not.toContain('Be brief');
    const written = [
      ...groups.flatMap(({ task, samples }) => [task, ...samples.map(({ about }) => about)]),
      ...proposals.tasks.map(({ task }) => task),
    ]
      .filter((task) => task?.includes('Spell it'))
      .map((task) => JSON.parse(task!).messages);
    expect(written.length).toBeGreaterThan(0);
    for (const messages of written)
      expect(messages).toEqual([
        ...talk(/one|two|three/.exec(messages[1].content)![0], 0).messages.slice(0, 3),
        { role: 'user', content: 'Spell it' },
      ]);
  },
);

test('trio: a question that is written after one about a picture is about that picture', async () => {
  const picture = `<image:${'0123456789abcdef'.repeat(4)}:3x3>`;
  const about = (word: string, line: number) => sayTask(`${picture}Say ${word}`, word, line);
  const { groups } = await play({
    recipe: 'trio',
    tasks: 2,
    groupSize: 2,
    given: {
      sources: [{ weight: 1, tasks: [about('one', 1), about('two', 2)] }],
      heldOut: [about('three', 3)],
    },
    says: (role) => [role === 'proposer' ? 'Spell it' : '<answer>yes</answer>'],
  });
  const own = groups.find(({ proposal }) => proposal !== null);
  expect(JSON.parse(own!.task).messages).toEqual([{ role: 'user', content: `${picture}Spell it` }]);
});

test.each([
  ['say ONE', 'duplicate', -0.5],
  ['say  THREE', 'held-out', null],
  ['  ', 'off-grammar', -0.5],
  [`Say four ${'x'.repeat(2000)}`, 'too-long', -0.5],
])(
  'trio: %j of the proposer is refused, and a question of the files takes its place',
  async (text, outcome, earned) => {
    const { proposals, groups, plan } = await play({
      recipe: 'trio',
      tasks: 2,
      groupSize: 2,
      says: (role) => (role === 'proposer' ? [text] : role === 'judge' ? ['<answer>no</answer>'] : ['one']),
    });
    expect(proposals.samples.map((sample) => sample.outcome)).toEqual([outcome]);
    expect(groups.map(({ proposal }) => proposal)).toEqual([null, null]);
    expect(Object.values(plan.earnings)).toEqual([earned]);
  },
);

test.each([
  // The answer is 61 + 93; every attempt gives it, so that the pass rate pays nothing.
  ['Calculate 61 + 93.', 'ok', 0],
  // Asked in the evaluation files, in another order.
  ['Calculate 84 + 15.', 'held-out', null],
  ['Say four', 'no-kind', -0.5],
])('trio on generated questions knows what %j comes to', async (text, outcome, earned) => {
  const { proposals, groups, plan } = await play({
    recipe: 'trio',
    tasks: 2,
    groupSize: 2,
    given: {
      start: 'words',
      checker: 'auto',
      sources: [
        {
          weight: 1,
          tasks: [sayTask('Calculate 12 + 34.', '46', 1), sayTask('Calculate 51 - 17.', '34', 2)],
        },
      ],
    },
    says: (role) => (role === 'proposer' ? [text] : role === 'judge' ? ['<answer>yes</answer>'] : ['154']),
  });
  expect(proposals.samples.map((sample) => sample.outcome)).toEqual([outcome]);
  expect(Object.values(plan.earnings)).toEqual([earned]);
  const own = groups.filter(({ proposal }) => proposal !== null);
  expect(own.map(({ answersExact }) => answersExact)).toEqual(outcome === 'ok' ? [[true, true]] : []);
});

test('sppo: the best and the worst by win rate, where right beats wrong', async () => {
  const { plan, read, groups } = await play({
    recipe: 'sppo',
    tasks: 1,
    groupSize: 4,
    says: (_, prompt) => ['x', said(prompt), 'y', 'z'],
  });
  const part = plan.updates[0]!.parts[0] as PreferencePart;
  expect(part.objective).toEqual({ kind: 'sppo', beta: 1 });
  const [pair] = part.pairs;
  expect([read(pair!.chosen), read(pair!.rejected)]).toEqual([said(groups[0]!.task), 'x']);
  // The right one: (1/2 + 3)/4. A wrong one: itself and two equals one half each, and the right one wins: 3/8.
  expect(pair!.winRates).toEqual([0.875, 0.375]);
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([0, 1, 0, 0]);
});

test('mae: ratings of questions and answers pay proposer and solver, and good questions are stored', async () => {
  const { proposals, groups, plan } = await play({
    recipe: 'mae',
    tasks: 1,
    groupSize: 2,
    says: (role, prompt) => {
      if (role === 'proposer') return ['Say four'];
      if (role === 'solver') return ['four', 'five'];
      if (/Rate a question/.test(prompt)) return ['Clear. <answer>10</answer>', '<answer>7</answer>'];
      return [/Answer:\nfour/.test(prompt) ? '<answer>5</answer>' : 'bad <answer>0</answer>'];
    },
  });
  const own = groups.find(({ proposal }) => proposal !== null)!;
  // Half of the rating and 0.5 for form.
  expect(own.samples.map(({ rewards }) => rewards)).toEqual([
    { reward: 1, passed: 1 },
    { reward: 0.5, passed: 0 },
  ]);
  // Quality (1 + 6/9)/2 reaches 0.7, difficulty is 1 - 1/2.
  const quality = (1 + 6 / 9) / 2;
  expect(plan.earnings[proposals.samples[0]!.id]).toBeCloseTo((quality + 0.5 + 1) / 3);
  expect(plan.recipeState).toEqual([own.task]);
  expect(plan.figures).toEqual({ stored: 1, quality: expect.closeTo(quality) });
  // Of a question of the file the oracle knows the answer; of the policy's own it knows nothing.
  expect(own.answersExact).toEqual([null, null]);
  expect(groups.find(({ proposal }) => proposal === null)!.answersExact).toEqual([false]);
});

test('r-zero: a challenger is paid for questions that divide the votes; what is collected is labelled by them', async () => {
  const says: Played['says'] = (role) =>
    role === 'proposer' ? ['Say four'] : ['four', 'four', 'four', 'four', 'four', 'four', 'x', 'y', 'y', 'z'];
  const asked = await play({ recipe: 'r-zero', tasks: 2, groupSize: 2, says });
  expect(asked.proposals.samples.map(({ outcome }) => outcome)).toEqual(['ok', 'duplicate']);
  // min(0.6, 0.4) and -1, each less 1 because both questions of the batch are the same.
  expect(Object.values(asked.plan.earnings)).toEqual([expect.closeTo(0.4 - 1), -2]);
  expect(asked.plan.updates.map(({ set }) => set)).toEqual(['challenger']);
  expect(asked.plan.figures).not.toHaveProperty('labelAccuracy');

  const collected = await play({ recipe: 'r-zero', tasks: 2, groupSize: 2, index: 8, says });
  const [vote] = collected.plan.recipeState as { task: string; label: string; share: number }[];
  expect(vote).toMatchObject({ label: 'four', share: 0.6 });

  const trained = await play({
    recipe: 'r-zero',
    tasks: 2,
    groupSize: 2,
    index: 9,
    recipeState: [vote],
    says: () => ['four', 'five'],
  });
  expect(trained.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0.1]);
  const part = trained.plan.updates[0]!.parts[0] as PolicyPart;
  expect(part.items.map(({ advantage }) => Math.sign(advantage as number))).toEqual([1, -1]);
});

/** A sum of two rewards: 1 for a right answer, 0.5 for one that can be read. */
const rewards = [
  { name: 'checker', weight: 1, from: { builtIn: 'checker' } },
  { name: 'format', weight: 0.5, from: { builtIn: 'format' } },
];

test('dapo is paid by a sum of rewards, and trains on groups that it pays differently', async () => {
  const { recipe, groups, plan, read } = await play({
    recipe: 'dapo',
    tasks: 2,
    groupSize: 3,
    given: { rewards },
    says: (_, prompt) => (said(prompt) === 'one' ? ['one', 'x', ''] : ['x', 'x', 'x']),
  });
  expect(Object.keys(recipe.rewards)).toEqual(['weighted', 'shaped', 'exact', 'format', 'random']);
  const [one, two] = ['one', 'two'].map((word) => groups.find(({ task }) => said(task) === word)!);
  expect(one!.samples.map((sample) => sample.rewards)).toEqual([
    { reward: 1.5, checker: 1, format: 1 },
    { reward: 0.5, checker: 0, format: 1 },
    { reward: 0, checker: 0, format: 0 },
  ]);
  expect(two!.samples.map((sample) => sample.rewards.reward)).toEqual([0.5, 0.5, 0.5]);
  // The second group has nothing to compare.
  const part = plan.updates[0]!.parts[0] as PolicyPart;
  expect(part.items.map(({ sample }) => read(sample))).toEqual(['one', 'x', '']);
  // Means over six answers: one is right, and five can be read.
  expect(plan.figures).toMatchObject({
    trainedGroups: 1,
    'reward.checker': expect.closeTo(1 / 6),
    'reward.format': expect.closeTo(5 / 6),
  });
});

test('a curriculum is carried beside the state of the recipe itself', async () => {
  const given = { settings: { maxNew: 24, curriculum: { unanimousWeight: 0 } } };
  const asked = {
    recipe: 'sppo',
    tasks: 1,
    groupSize: 2,
    given,
    // Everything right on one question, one answer of two on the other.
    says: (_: string, prompt: string) => (said(prompt) === 'one' ? ['one', 'one'] : ['two', 'x']),
  };
  const drawn: string[] = [];
  let recipeState: unknown;
  for (let index = 1; index <= 6; index++) {
    const { groups, plan, recipe } = await play({ ...asked, index, recipeState });
    recipeState = plan.recipeState;
    drawn.push(said(groups[0]!.task));
    expect(v.is(recipe.state!, recipeState)).toBe(true);
    expect(plan.figures!.knownUnanimous).toBe(drawn.includes('one') ? 1 : 0);
    const { own } = recipeState as { own: { responses: unknown[] } };
    expect(own.responses).toHaveLength(drawn.at(-1) === 'two' ? 1 : 0);
  }
  // Once it is known to be unanimous it is never drawn while the other is left.
  expect(drawn.filter((word) => word === 'one').length).toBe(1);
});

test('dapo’s curriculum goes by right and wrong, not by length', async () => {
  const { plan } = await play({
    recipe: 'dapo',
    tasks: 1,
    groupSize: 2,
    given: { settings: { maxNew: 24, curriculum: { unanimousWeight: 0.5 } } },
    // Both wrong, and one so long that it is paid less.
    says: () => ['x', 'x'.repeat(21)],
  });
  expect(plan.figures!.knownUnanimous).toBe(2);
});

test.each([
  [63, 0.5, 2],
  [64, 0.05, 5],
])('prime: with answers of %s tokens β is %s and process rewards weigh %s', async (maxNew, beta, weigh) => {
  const { plan, recipe } = await play({
    recipe: 'prime',
    tasks: 1,
    groupSize: 2,
    given: { settings: { maxNew } },
    says: (_, prompt) => [said(prompt), 'x'],
  });
  expect(plan.updates[0]!.parts[0]).toMatchObject({ kind: 'implicit-prm', beta });
  expect(recipe.method!.objective).toContain(`σ(${beta} ·`);
  expect(recipe.method!.credit).toContain(`they weigh ${weigh} beside`);
});
