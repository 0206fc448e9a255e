import { expect, test } from 'vitest';
import type { PolicyPart, PreferencePart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import {
  evolved,
  nextPrompts,
  type PromptBuffer,
  ratedOf,
  seeds,
  weightsOf,
} from '../../recipes/eva/prompts.ts';
import { shipped } from '../../recipes/index.ts';
import { compare, isHeldOutStyle, parseStyleTask, styleScore } from '../../worlds/style/family.ts';
import { evaluateWritten } from './evaluate-written.ts';
import { recordsOf, solved } from './records.ts';

const eva = shipped.find('eva');

const parsed = (task: string) => {
  const read = parseStyleTask(task);
  if (!read.ok) throw new Error(`${task} is no task`);
  return read.value;
};

test('regret is the best reward less the mean, and a prompt without rewards has none', () => {
  const { groups } = recordsOf('eva', [
    { task: 'a', samples: [solved('x', 0.4), solved('y', 0.8), solved('z', 0.6)] },
    { task: 'b', samples: [] },
  ]);
  expect(ratedOf(groups)).toEqual([{ task: 'a', regret: expect.closeTo(0.2), reward: expect.closeTo(0.6) }]);
});

test('prompts are chosen by regret, by how little they earn, or all alike', () => {
  const prompts = [
    { task: 'a', regret: 0.25, reward: 0.75 },
    { task: 'b', regret: 0, reward: 0.5 },
    { task: 'c', regret: 0, reward: 1 },
  ];
  expect(weightsOf(prompts, 'regret')).toEqual([0.25, 0, 0]);
  expect(weightsOf(prompts, 'lowest-reward')).toEqual([0.25, 0.5, 0]);
  expect(weightsOf(prompts, 'uniform')).toEqual([1, 1, 1]);
  // Where nothing is left to gain anywhere, all are alike.
  expect(weightsOf(prompts.slice(1), 'regret')).toEqual([1, 1]);
});

test('a prompt is rewritten in depth or in breadth, has a perfect response and is not held out', () => {
  const random = new Random('eva/test');
  const source = 'az 2-3:tok bel ana';
  const made = Array.from({ length: 400 }, () => evolved(random, source));
  expect(made.some(isHeldOutStyle)).toBe(false);
  const kinds = made.map((task) => {
    const { least, most, words } = parsed(task);
    if (words.length === 4) {
      expect([least, most, words.slice(0, 3)]).toEqual([2, 3, ['tok', 'bel', 'ana']]);
      return 'one more word';
    }
    expect(words).toHaveLength(3);
    if (least === 3) {
      expect(task).toBe('az 3-3:tok bel ana');
      return 'one more asked for';
    }
    expect([least, most]).toEqual([2, 3]);
    return words.join(' ') === 'tok bel ana' ? 'the same words' : 'other words';
  });
  const share = (kind: string) => kinds.filter((one) => one === kind).length / kinds.length;
  expect(share('the same words')).toBe(0);
  // One half each way, and in depth one half each: five standard deviations of a share of one half over 400 are 0.125.
  expect(Math.abs(share('other words') - 0.5)).toBeLessThan(0.125);
  expect(Math.abs(share('one more word') - 0.25)).toBeLessThan(0.11);
  // A source of ten words, nine of which are asked for, can only be varied.
  const full = 'az 9-9:ab ba de ed gi ig kl lk mn nm';
  for (let i = 0; i < 20; i++) expect(parsed(evolved(random, full))).toMatchObject({ least: 9, most: 9 });
});

const STATE: PromptBuffer = {
  buffer: ['za 2-3:ab ba de', 'za 2-3:ab ba gi'],
  last: [
    { task: 'az 2-3:tok bel ana', regret: 0, reward: 0.2 },
    { task: 'up 2-3:tok bel ana dim ked pra', regret: 0.3, reward: 0.7 },
  ],
};

test('the next prompts are evolved from where there is regret, and drawn from what was trained on', () => {
  const prompts = nextPrompts(new Random('eva/next'), STATE, 'regret', { count: 42, fresh: 40 });
  expect(new Set(prompts.slice(40))).toEqual(new Set(STATE.buffer));
  expect(prompts.slice(0, 40).every((task) => parsed(task).words.length >= 6)).toBe(true);
  const lowest = nextPrompts(new Random('eva/next'), STATE, 'lowest-reward', { count: 40, fresh: 40 });
  // 0.8 of 1.1 go to the prompt of three words: 29 of 40, and five standard deviations are 14.
  const short = lowest.filter((task) => parsed(task).words.length < 6).length;
  expect(Math.abs(short - 29)).toBeLessThan(11);
});

const perfectResponse = (task: string) => {
  const { order, least, words } = parsed(task);
  return [...new Set(words)].slice(0, least).sort(compare[order]).join(' ');
};
/** A perfect response, one word of the source, which is neither in order nor long enough, and a word from elsewhere: 5, 3 and 2 points. */
function write(prompt: string, i: number): string {
  const task = prompt.slice('<solve>'.length, -'<sep>'.length);
  const responses = [perfectResponse(task), parsed(task).words[0]!, 'zz'] as const;
  expect(responses.map((response) => styleScore(task, response))).toEqual([5, 3, 2]);
  return `<answer>${responses[i]}<eos>`;
}
const play = (more: WriteOptions = {}) => playWritten(eva, write, { tasks: 4, groupSize: 3, ...more });
const round = async (more: WriteOptions = {}) => {
  const played = await play(more);
  return { ...played, part: played.plan.updates[0]!.parts[0]! };
};

test('DPO is trained on the best and the worst response, against the start policy', async () => {
  const { groups, plan, part } = await round();
  expect(part).toMatchObject({
    kind: 'preference',
    objective: { kind: 'dpo', beta: 0.1 },
    reference: { set: 'main', version: 0 },
  });
  const pairs = (part as PreferencePart).pairs;
  expect(pairs.map(({ chosen, rejected }) => [chosen.ids, rejected.ids])).toEqual(
    groups.map(({ samples }) => [samples[0]!.ids, samples[2]!.ids]),
  );
  // Rewards 1, 0.6 and 0.4: a mean of 2/3, and a regret of 1/3.
  const { buffer, last } = plan.recipeState as PromptBuffer;
  expect(last).toEqual(
    groups.map(({ task }) => ({ task, regret: expect.closeTo(1 / 3), reward: expect.closeTo(2 / 3) })),
  );
  expect(new Set(buffer)).toEqual(new Set(seeds()));
  expect(plan.figures).toMatchObject({ regret: expect.closeTo(1 / 3), points: expect.closeTo(2 / 3) });
});

test('SPPO is trained on win rates by reward, RLOO on rewards less the mean of the others', async () => {
  const sppo = (await round({ variant: 'sppo' })).part as PreferencePart;
  expect(sppo.objective).toEqual({ kind: 'sppo', beta: 1 });
  const at = { set: 'main', version: 3 };
  expect((await round({ variant: 'sppo', index: 4 })).part).toMatchObject({ reference: at });
  // The best wins against two and half against itself, of three.
  expect(sppo.pairs[0]!.winRates).toEqual([2.5 / 3, 0.5 / 3].map((rate) => expect.closeTo(rate)));
  const rloo = (await round({ variant: 'rloo' })).part as PolicyPart;
  // 1 - 0.5, 0.6 - 0.7 and 0.4 - 0.8.
  expect(rloo.items.slice(0, 3).map(({ advantage }) => advantage)).toEqual(
    [0.5, -0.1, -0.4].map((a) => expect.closeTo(a)),
  );
});

test('later rounds take three quarters of their prompts from the creator; without evolution they stay as they were', async () => {
  const later = { index: 2, recipeState: STATE };
  const { groups, plan } = await round(later);
  const tasks = groups.map(({ task }) => task);
  expect(tasks.slice(0, 3).every((task) => parsed(task).words.length >= 6)).toBe(true);
  expect(STATE.buffer).toContain(tasks[3]);
  const { buffer } = plan.recipeState as PromptBuffer;
  expect(new Set(buffer)).toEqual(new Set([...STATE.buffer, ...tasks]));
  const still = await round({ ...later, variant: 'no-evolution' });
  expect(still.groups.every(({ task }) => seeds().includes(task))).toBe(true);
});

test('an evaluation tells long prompts from the others', async () => {
  // Perfect responses to prompts of up to five words, and to longer ones a word from elsewhere, which has two points of five.
  const long = new Map<string, boolean>();
  const { heldOut, figures } = await evaluateWritten(eva, 40, (prompt) => {
    const task = prompt.slice('<solve>'.length, -'<sep>'.length);
    const isLong = parsed(task).words.length >= 6;
    long.set(task, isLong);
    const response = isLong ? 'zz' : perfectResponse(task);
    expect(styleScore(task, response)).toBe(isLong ? 2 : 5);
    return `<answer>${response}<eos>`;
  });
  expect(new Set([...long.keys()].map((task) => parsed(task).words.length))).toEqual(
    new Set([3, 4, 5, 6, 7, 8]),
  );
  const share = [...long.values()].filter(Boolean).length / 40;
  const points = expect.closeTo(share * 0.4 + (1 - share), 12);
  expect(heldOut).toMatchObject({ n: 40, accuracy: points, sampled: points, formatRate: 1 });
  expect(figures).toMatchObject({ long: expect.closeTo(0.4, 12) });
});
