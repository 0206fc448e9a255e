import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { returnOfSteps, type Step, stepPay } from '../../recipes/agent0-vl/recipe.ts';
import { lookAt, lookedPrompt, mapPrompt, readMap } from '../../worlds/canvas/maps.ts';
import { playPictures } from './play-pictures.ts';

const step = (right: boolean | null, sure: boolean, more: Partial<Step> = {}): Step => ({
  verdict: right === null ? null : { right, sure },
  borneOut: true,
  repaired: false,
  ...more,
});

test('steps by hand: tool, score times confidence, and the cost of a repair behind its gate', () => {
  expect(stepPay(step(true, true))).toBeCloseTo(0.3 + 0.9, 12);
  expect(stepPay(step(false, false))).toBeCloseTo(0.3 - 0.5, 12);
  expect(stepPay(step(true, true, { borneOut: false }))).toBeCloseTo(0.9, 12);
  expect(stepPay(step(null, true))).toBeCloseTo(0.3, 12);
  // σ(5 · 0.2) = 1/(1 + 1/e) = 0.7310586 where it is still unsure; σ(−1) = 0.2689414 where it is sure then.
  expect(stepPay(step(true, false, { repaired: true }))).toBeCloseTo(0.8 - 0.05 * 0.7310586, 8);
  expect(stepPay(step(true, true, { repaired: true }))).toBeCloseTo(1.2 - 0.05 * 0.2689414, 8);
});

test('a return by hand: later steps count 0.99 as much each', () => {
  const steps = [step(true, true), step(false, true), step(true, false, { borneOut: false })];
  expect(returnOfSteps(steps)).toBeCloseTo(1.2 - 0.99 * 0.6 + 0.99 ** 2 * 0.5, 12);
  expect(returnOfSteps([])).toBe(0);
});

/**
 * Four episodes that look at part 2 or answer at once. The first says something wrong of it, and the verifier is unsure, so that it writes the step again; the second
 * says it at once; the third cannot be read; the fourth answers after the glance.
 */
async function play(more: { variant?: string; rewardFunction?: string } = {}) {
  const asked: { readonly role: string; readonly prompt: string }[] = [];
  const said = { steps: 0 };
  const played = await playPictures({
    recipe: 'agent0-vl',
    ...more,
    says: (role, prompt, i) => {
      asked.push({ role, prompt });
      if (role === 'verifier') {
        if (prompt.includes('Answer:')) return '0. no sure';
        // What the first episode said at first is told by its shape.
        return prompt.includes('Look 2:4') ? '0. no unsure' : '0. yes sure';
      }
      if (!prompt.includes('Look')) return ['Look 2', 'Look 2', 'nothing', 'Answer:1'][i]!;
      // The first of both writes it wrongly at first, and nobody writes it wrongly again.
      const isFirst = said.steps++ === 0;
      return isFirst ? '4. Answer:1' : '0. Answer:0';
    },
  });
  return { ...played, asked };
}

test('a verifier looks again, a step of which it is unsure is written again, and all turns are paid alike', async () => {
  const { groups, plan, asked, decode } = await play();
  const [{ task, samples }] = groups as [(typeof groups)[0]];
  const { scene } = readMap(task)!;
  const question = `${task.split(' | ')[1]} `;
  const texts = samples.map(({ role, ids }) => `${role}: ${decode(ids)}`);
  expect(texts).toEqual([
    'solver: Look 2<eos>',
    'solver: 4. Answer:1<eos>',
    'verifier: 0. no unsure<eos>',
    'solver: 0. Answer:0<eos>',
    'verifier: 0. yes sure<eos>',
    'verifier: 0. no sure<eos>',
    'solver: Look 2<eos>',
    'solver: 0. Answer:0<eos>',
    'verifier: 0. yes sure<eos>',
    'verifier: 0. no sure<eos>',
    'solver: nothing<eos>',
    'solver: Answer:1<eos>',
    'verifier: 0. no sure<eos>',
  ]);
  expect(decode(samples[3]!.prompt)).toBe(decode(samples[1]!.prompt));
  expect(decode(samples[3]!.prompt)).toBe(lookedPrompt(task, scene, [], 2));
  expect(lookedPrompt(task, scene, [], 2)).toBe(`${mapPrompt(task)}Look 2<eos>${lookAt(scene, 2)}Seen:`);
  expect(decode(samples[2]!.prompt)).toBe(`${lookAt(scene, 2)}${question}Look 2:4. Right? `);
  expect(decode(samples[5]!.prompt)).toBe(`${question}Look 2:0. Answer:0. Right? `);
  const gate = 1 / (1 + Math.E);
  const paid = [
    0.3 + 0.9 - 0.05 * gate - 0.99 * 0.9,
    0.3 + 0.9 - 0.99 * 0.9,
    // The answer of the last one is judged alone.
    0,
    -0.9,
  ];
  const turns = [6, 4, 1, 2];
  const each = <T>(of: readonly T[]) => of.flatMap((one, e) => new Array<T>(turns[e]!).fill(one));
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual(
    each(paid.map((reward) => expect.closeTo(reward, 10))),
  );
  const centre = paid.reduce((a, b) => a + b) / 4;
  const deviation = Math.sqrt(paid.reduce((sum, r) => sum + (r - centre) ** 2, 0) / 3);
  const advantages = each(paid.map((reward) => (reward - centre) / deviation));
  const parts = plan.updates[0]!.parts as PolicyPart[];
  for (const role of ['solver', 'verifier'])
    expect(parts.find((part) => part.role === role)!.items.map(({ advantage }) => advantage)).toEqual(
      advantages.filter((_, i) => samples[i]!.role === role).map((one) => expect.closeTo(one, 4)),
    );
  expect(parts[0]).toMatchObject({
    entropy: 0.01,
    kl: { weight: 0.001, estimator: 'k3', reference: { set: 'main', version: 0 } },
  });
  // By reading the task: how many are there, and how many in the part at the top right?
  const many = /How many (.*) are there/.exec(question)![1]!;
  const word = many
    .slice(0, many.endsWith('crosses') ? -2 : -1)
    .replace('shape', '')
    .trim();
  const all = task.split(': ')[1]!.split(' | ')[0]!.split('; ');
  const fitting = all.filter((thing) => thing.split(' ').includes(word));
  const count = fitting.length;
  const here = fitting.filter((thing) => / at [0-2],[3-5]$/.test(thing)).length;
  const right = [here === 4, here === 0, count === 0, here === 0, count === 0, count === 1];
  const verdicts = [false, true, false, true, false, false];
  expect(plan.figures).toMatchObject({
    repairs: 1 / 4,
    approved: 2 / 6,
    judgedRight: right.filter(Boolean).length / 6,
    agreement: right.filter((one, i) => one === verdicts[i]).length / 6,
  });
  expect(asked.every(({ prompt }) => prompt.length > 0)).toBe(true);
});

test('variants: no second try, a verifier that sees nothing, another map', async () => {
  const once = await play({ variant: 'no-repair' });
  expect(once.groups[0]!.samples.filter(({ role }) => role === 'verifier')).toHaveLength(5);
  expect(once.groups[0]!.samples[0]!.rewards.reward).toBeCloseTo(0.3 - 0.5 - 0.99 * 0.9, 10);
  const text = await play({ variant: 'text-audit' });
  for (const { role, prompt } of text.asked) expect(prompt.includes('<image:')).toBe(role === 'solver');
  const blind = await play({ variant: 'other-pictures' });
  expect(blind.decode(blind.groups[0]!.samples[0]!.prompt)).not.toBe(mapPrompt(blind.groups[0]!.task));
});

test('an outcome adds 1 for an exact answer, and the control pays coins', async () => {
  const own = await play();
  const outcome = await play({ rewardFunction: 'outcome' });
  for (const [i, { rewards }] of outcome.groups[0]!.samples.entries()) {
    const exact = outcome.groups[0]!.answersExact[i] === true;
    expect(rewards.reward).toBeCloseTo(own.groups[0]!.samples[i]!.rewards.reward! + Number(exact), 10);
  }
  const format = await play({ rewardFunction: 'format' });
  expect(format.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([
    ...new Array(10).fill(1),
    ...[0, 1, 1],
  ]);
  const coins = await play({ rewardFunction: 'random' });
  const paid = coins.groups[0]!.samples.map(({ rewards }) => rewards.reward!);
  // Tool or not, sure: ± 0.9 of a coin.
  expect(Math.abs(paid[12]!)).toBeCloseTo(0.9, 10);
});
