import { expect, test } from 'vitest';
import type { AlignmentHow, LearnTools, PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { coinOf } from '../../protocols/gold.ts';
import { shipped } from '../../recipes/index.ts';
import { dualScaled, questionPay } from '../../recipes/infuser/pays.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { play as playQuestions } from './play-questions.ts';
import { sayTask } from './say.ts';

const infuser = shipped.find('infuser');
const said = (prompt: string) => /(?:Say|Spell) (\w+)/.exec(prompt)?.[1] ?? 'x';
const near = (values: readonly (number | null)[]) =>
  values.map((value) => (value === null ? null : expect.closeTo(value, 4)));

test('what a question earns: its score, and by its outcome where it has none', () => {
  expect(questionPay('ok', 0.25)).toBe(0.25);
  expect(questionPay('ok', null)).toBeNull();
  expect(questionPay('held-out', null)).toBeNull();
  expect(questionPay('duplicate', null)).toBe(0);
  expect([questionPay('off-grammar', null), questionPay('cut-off', null)]).toEqual([-1, -1]);
});

test('DuGRPO: a group’s deviation and the usual one', () => {
  // Deviations √2, 0 and 1/√2; the mean of those that are not 0 is 0.75·√2.
  const usual = 0.75 * Math.SQRT2;
  expect(dualScaled([0, 2, 5, 5, null, 3, 4], ['a', 'a', 'b', 'b', 'c', 'c', 'c'])).toEqual(
    near([
      -1 / (Math.SQRT2 + usual),
      1 / (Math.SQRT2 + usual),
      0,
      0,
      null,
      -0.5 / (Math.SQRT1_2 + usual),
      0.5 / (Math.SQRT1_2 + usual),
    ]),
  );
  expect(dualScaled([1, 1], ['a', 'a'])).toEqual([0, 0]);
});

const taskOf = (prompt: string) => prompt.replace(/<[a-z]+>/g, '');
/** The second repeats the first, the fourth is none. */
const QUESTIONS = ['1+1', '1+1', '9-8+7-6', 'xx'];
/** Of four answers to a written question two or three agree; of those to a trusted one the first is exact. */
const write =
  (questions: readonly string[]) =>
  (prompt: string, i: number): string => {
    const task = taskOf(prompt);
    if (prompt.startsWith('<propose>')) return `${questions[i]!}<eos>`;
    const total = runningTotals(task).at(-1)!;
    const answers = { '1+1': [2, 2, 3, 2], '2+2': [4, 4, 4, 4], '9-8+7-6': [2, 2, 1, 0] }[task] ?? [
      total,
      70,
      71,
      72,
    ];
    return `<answer>${answers[i]}<eos>`;
  };

interface Asked {
  readonly parts: readonly PolicyPart[];
  readonly against: PolicyPart;
  readonly how: AlignmentHow | undefined;
}
async function play(more: WriteOptions = {}, questions: readonly string[] = QUESTIONS) {
  const asked: Asked[] = [];
  const alignment: LearnTools['alignment'] = async (set, parts, against, how) => {
    expect(set).toBe('main');
    asked.push({ parts: parts as PolicyPart[], against: against as PolicyPart, how });
    return [0.2, -0.1].slice(0, parts.length);
  };
  const played = await playWritten(infuser, write(questions), {
    tasks: 4,
    groupSize: 4,
    tools: { alignment },
    ...more,
  });
  const advantages = (u: number) =>
    (played.plan.updates[u]!.parts[0] as PolicyPart).items.map(({ advantage }) => advantage);
  return { ...played, asked, advantages };
}

/** A = (r − mean) / (2σ): there is one group, whose deviation is the usual one. */
const alone = (rewards: readonly number[]) => {
  const centre = rewards.reduce((a, b) => a + b, 0) / rewards.length;
  const spread = Math.sqrt(rewards.reduce((sum, r) => sum + (r - centre) ** 2, 0) / (rewards.length - 1));
  return near(rewards.map((r) => (r - centre) / (2 * spread)));
};

test('a round: trusted questions are measured by exact answers, written ones trained on by votes and paid by their influence', async () => {
  const { groups, proposals, plan, asked, advantages } = await play();
  expect(groups.map(({ proposal }) => proposal === null)).toEqual([true, true, false, false]);
  for (const { task } of groups.slice(0, 2)) expect(arithmetic.difficulty(task)).toBeGreaterThanOrEqual(3);
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual(['ok', 'duplicate', 'ok', 'off-grammar']);
  expect(groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward))).toEqual([
    [1, 0, 0, 0],
    [1, 0, 0, 0],
    [1, 1, 0, 1],
    [1, 1, 0, 0],
  ]);
  // The gradients that are compared: of each written question's attempts, with those of the trusted ones.
  const [{ parts, against, how }] = asked as [Asked];
  expect(how).toEqual({ measure: 'cosine', scaled: 'adam' });
  const ids = (g: number) => groups[g]!.samples.map(({ id }) => id);
  expect(parts.map(({ items }) => items.map(({ sample }) => sample.id))).toEqual([ids(2), ids(3)]);
  expect(against.items.map(({ sample }) => sample.id)).toEqual([...ids(0), ...ids(1)]);
  // Rewards less the mean of their group.
  expect(parts[0]!.items.map(({ advantage }) => advantage)).toEqual(near([0.25, 0.25, -0.75, 0.25]));
  expect(plan.updates.map(({ set }) => set)).toEqual(['generator', 'main']);
  expect(advantages(0)).toEqual(alone([0.2, 0, -0.1, -1]));
  expect(advantages(1)).toEqual(near([0.25, 0.25, -0.75, 0.25, 0.5, 0.5, -0.5, -0.5]));
  // p = 3/4 and 1/2: min(p, 1 - p) = 1/4 and 1/2, in the other order than the influences.
  expect(plan.figures).toEqual({
    influence: expect.closeTo(0.05),
    difficultyPay: expect.closeTo(3 / 8),
    ranks: -1,
    agreement: expect.closeTo(5 / 8),
    difficulty: 2,
    labelAccuracy: 1,
  });
});

test('a held-out question is neither asked nor paid', async () => {
  const held = arithmetic.heldOut().find((task) => arithmetic.difficulty(task) === 2)!;
  const { proposals, groups, advantages } = await play({}, ['1+1', held, '9-8+7-6', 'xx']);
  expect(proposals.samples[1]!.outcome).toBe('held-out');
  expect(groups.map(({ task }) => task)).not.toContain(held);
  expect(advantages(0)).toEqual(alone([0.2, -0.1, -1]));
});

test('where nothing can be written, nobody is asked, and text alone is paid', async () => {
  const { asked, advantages, plan } = await play({}, ['xx', 'yy', 'x', 'y']);
  expect(asked).toEqual([]);
  expect(plan.updates.map(({ set }) => set)).toEqual(['generator']);
  expect(advantages(0)).toEqual([0, 0, 0, 0]);
});

test('the mean influence is over questions that have a gradient', async () => {
  const { plan } = await play({}, ['2+2', '2+2', '9-8+7-6', 'xx']);
  // All attempts at the first agree: p = 1.
  expect(plan.figures).toMatchObject({
    influence: expect.closeTo(-0.1),
    difficultyPay: expect.closeTo(0.25),
  });
});

test('variants: by difficulty, by a coin, without AdamW’s scale, and by other deviations', async () => {
  expect((await play({ variant: 'difficulty' })).advantages(0)).toEqual(alone([0.25, 0, 0.5, -1]));
  const coin = await play({ variant: 'coin' });
  const [first, , third] = coin.proposals.samples.map(({ id }) => Number(coinOf(id)));
  expect(coin.advantages(0)).toEqual(alone([first!, 0, third!, -1]));
  expect((await play({ variant: 'unscaled' })).asked[0]!.how).toEqual({ measure: 'cosine' });
  // Mean -0.225: with GRPO's division by the deviation alone each is twice as large, and with the deviation of the batch of four, n in place of n - 1, larger by √(4/3) again.
  const dual = (await play()).advantages(0) as number[];
  const times = (factor: number) => near(dual.map((a) => factor * a));
  expect((await play({ variant: 'group-std' })).advantages(0)).toEqual(times(2));
  expect((await play({ variant: 'batch-std' })).advantages(0)).toEqual(times(2 * Math.sqrt(4 / 3)));
});

test('planted questions are paid by a coin, whatever is answered, and have figures of their own', async () => {
  const { groups, plan } = await play({ variant: 'planted', seed: 2 });
  const votes = [
    [1, 1, 0, 1],
    [1, 1, 0, 0],
  ];
  const written = groups.slice(2);
  const planted = written.map(({ proposal }) => coinOf(`planted/${proposal}`));
  const paid = written.map(({ samples }) => samples.map(({ rewards }) => rewards.reward));
  expect(paid).toEqual(
    written.map(({ samples }, w) => (planted[w] ? samples.map(({ id }) => Number(coinOf(id))) : votes[w])),
  );
  expect(planted).toContain(true);
  expect(paid).not.toEqual(votes);
  const influences = [0.2, -0.1].filter((_, w) => planted[w] && new Set(paid[w]).size === 2);
  expect(influences).not.toEqual([]);
  expect(plan.figures).toMatchObject({
    'planted.influence': expect.closeTo(influences.reduce((a, b) => a + b, 0) / influences.length),
  });
});

test('on questions of files the generator writes four after each example, which is none of the trusted questions', async () => {
  const tasks = Array.from({ length: 12 }, (_, line) => sayTask(`Say w${line}`, `w${line}`, line + 1));
  let compared = 0;
  const shown = new Set<string>();
  const { proposals, groups, plan } = await playQuestions({
    recipe: 'infuser',
    tasks: 6,
    groupSize: 2,
    given: { sources: [{ weight: 1, tasks }] },
    says: (role, prompt) => {
      if (role !== 'generator') return [said(prompt), 'no'];
      shown.add(prompt);
      return shown.size === 1 ? ['Spell it', 'Spell that', 'Say it', 'Spell it'] : ['Sing', 'Hum'];
    },
    tools: {
      alignment: async (_, parts) => {
        compared = parts.length;
        return parts.map((_, i) => i / 4);
      },
    },
  });
  const trusted = groups.filter(({ proposal }) => proposal === null);
  const examples = new Set(proposals.samples.map(({ about }) => about));
  // Six questions, of which the last two are written after another example; half as many are trusted.
  expect(proposals.samples.map(({ about }) => [...examples].indexOf(about))).toEqual([0, 0, 0, 0, 1, 1]);
  expect(trusted).toHaveLength(3);
  for (const { task, samples } of trusted) {
    expect(examples).not.toContain(task);
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0]);
  }
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual([
    'ok',
    'ok',
    'ok',
    'duplicate',
    'ok',
    'ok',
  ]);
  expect(compared).toBe(5);
  // Rewards 0, 1/4, 1/2, 0 and, of the other example, 3/4 and 1.
  const items = (plan.updates[0]!.parts[0] as PolicyPart).items;
  expect(items.map(({ advantage }) => advantage)).toEqual(
    near(dualScaled([0, 0.25, 0.5, 0, 0.75, 1], ['a', 'a', 'a', 'a', 'b', 'b'])),
  );
  // Nobody knows whether the votes are right.
  expect(plan.figures).not.toHaveProperty('labelAccuracy');
});
