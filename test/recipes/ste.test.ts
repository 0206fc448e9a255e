import { expect, test } from 'vitest';
import type { ClassificationPart, PolicyPart, SftPart } from '../../core/plan/training-plan.ts';
import { difficultyPay, stylePay } from '../../recipes/ste/recipe.ts';
import { playPictures } from './play-pictures.ts';

test('rewards by hand', () => {
  // Twice the usual is worth most; e^−1 below it; 1 − |1 − 2|; and bounded.
  expect([
    difficultyPay(1, 0.5),
    difficultyPay(0, 0.5),
    difficultyPay(1 + Math.LN2, 0.5),
    difficultyPay(9, 0.5),
  ]).toEqual([1, expect.closeTo(0.367879, 6), expect.closeTo(0, 12), -1]);
  const usual = { loss: 0.5, real: 0.6 };
  const pay = (variant?: string, real: number | null = 0.8) => stylePay({ loss: 1, real }, usual, variant);
  expect([pay(), pay('no-realism'), pay('no-difficulty'), pay(undefined, null)]).toEqual([
    expect.closeTo(2, 12),
    1,
    expect.closeTo(1, 12),
    1,
  ]);
});

const STYLES = [' red dots few', ' blue bars many', ' red', ' white posts some'];
/** Four styles, of which one is none; the eraser's loss is 1/2, 1 and 3/2 nats a token under the others. */
async function play(more: { variant?: string; rewardFunction?: string; tasks?: number } = {}) {
  const asked: { readonly prompt: string; readonly text: string }[] = [];
  const played = await playPictures({
    recipe: 'ste',
    ...more,
    says: (role, prompt, i) => {
      expect([role, prompt.replace(/^<image:[^>]+>/, '')]).toEqual(['stylist', 'Choose a style. ']);
      return STYLES[i]!;
    },
    finds: (role, prompt, text) => {
      if (role === 'critic') return 0;
      asked.push({ prompt, text });
      return -asked.length / 2;
    },
  });
  return { ...played, asked };
}
const partsOf = <P>({ plan }: Awaited<ReturnType<typeof play>>, set: string) =>
  plan.updates.filter((update) => update.set === set).map(({ parts }) => parts[0] as P);

test('styles are paid by the eraser’s loss, and the eraser is taught what is beneath', async () => {
  const played = await play();
  const { groups, plan, asked, decode } = played;
  const [{ task, samples, answersExact }] = groups as [(typeof groups)[0]];
  expect(samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'off-grammar', 'ok']);
  expect(asked.map(({ text }) => text)).toEqual(new Array(3).fill(` ${task}<eos>`));
  expect(new Set(asked.map(({ prompt }) => prompt)).size).toBe(3);
  // The world has white posts, and neither dots nor blue.
  expect(answersExact).toEqual([false, false, null, true]);
  // The usual loss is 1 at first: e^−1.5, e^−1 and e^−0.5. No critic was trained yet.
  expect(samples.map(({ rewards }) => rewards)).toEqual([
    { reward: expect.closeTo(0.22313, 5), loss: 0.5, real: null },
    { reward: expect.closeTo(0.367879, 5), loss: 1, real: null },
    { reward: 0 },
    { reward: expect.closeTo(0.606531, 5), loss: 1.5, real: null },
  ]);
  const [stylist] = partsOf<PolicyPart>(played, 'style');
  expect(stylist!.items.map(({ advantage }) => advantage)).toEqual(
    [-0.076255, 0.068494, -0.299385, 0.307146].map((a) => expect.closeTo(a, 5)),
  );
  expect(stylist!.objective).toEqual({ kind: 'reinforce' });
  const [eraser] = partsOf<SftPart>(played, 'main');
  expect(eraser!.items.map(({ prompt, ids }) => [decode(prompt), decode(ids)])).toEqual(
    asked.map(({ prompt, text }) => [prompt, text]),
  );
  const [critic] = partsOf<ClassificationPart>(played, 'critic');
  expect(critic!.items.map(({ label }) => label)).toEqual([0, 1, 0, 1, 0, 1]);
  expect(new Set(critic!.items.map(({ prompt }) => decode(prompt))).size).toBe(6);
  expect(critic!.items.every(({ ids }) => decode(ids) === 'real? ')).toBe(true);
  expect(plan.recipeState).toEqual({ loss: 1, real: 0.5 });
  expect(plan.figures).toEqual({ loss: 1, real: expect.closeTo(1 / 3, 12) });
});

test('at first a style is compared with those of its own drawing, since groups may be judged apart', async () => {
  const { groups } = await play({ tasks: 2 });
  // Losses of 2, 5/2 and 3 under the second drawing, of which twice the mean is 5: e^−3, e^−2.5 and e^−2.
  expect(groups[1]!.samples.map(({ rewards }) => rewards.reward)).toEqual(
    [0.049787, 0.082085, 0, 0.135335].map((reward) => expect.closeTo(reward, 5)),
  );
});

test('variants: styles by lot or one style without a stylist, and an eraser that sees another drawing', async () => {
  for (const variant of ['uniform', 'fixed']) {
    const played = await play({ variant });
    expect(partsOf(played, 'style')).toEqual([]);
    expect(partsOf<SftPart>(played, 'main')[0]!.items).toHaveLength(3);
  }
  const [own, blind] = [await play(), await play({ variant: 'other-pictures' })];
  const taught = (played: typeof own) =>
    partsOf<SftPart>(played, 'main')[0]!.items.map(({ prompt, ids }) => [
      played.decode(prompt),
      played.decode(ids),
    ]);
  const measured = blind.asked.map(({ prompt }) => prompt);
  for (const [prompt, text] of taught(blind)) {
    expect(measured).not.toContain(prompt);
    expect(text).toBe(` ${blind.groups[0]!.task}<eos>`);
  }
  expect(taught(own).map(([prompt]) => prompt)).toEqual(own.asked.map(({ prompt }) => prompt));
});

test('controls pay every style alike, or by a coin', async () => {
  const { groups } = await play({ rewardFunction: 'format' });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0, 1]);
  const drawn = await play({ rewardFunction: 'random', tasks: 6 });
  const coins = drawn.groups.flatMap(({ samples }) =>
    samples.map(({ outcome, rewards }) => [outcome, rewards.reward]),
  );
  expect(new Set(coins.map(String))).toEqual(new Set(['ok,0', 'ok,1', 'off-grammar,0']));
  // The eraser is taught all the same.
  expect(partsOf<SftPart>(drawn, 'main')[0]!.items).toHaveLength(18);
});
