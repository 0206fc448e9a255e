import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { drawingPay } from '../../recipes/alphagrpo/recipe.ts';
import { painted, redrawPrompt } from '../../worlds/canvas/drawing.ts';
import { playPictures } from './play-pictures.ts';

test('rewards by hand', () => {
  expect(drawingPay([1, 0.5, 0.25, 0.25])).toBe(0.5);
  expect([drawingPay([1, 0.6], 'holistic'), drawingPay([1, 0.5], 'holistic')]).toEqual([1, 0]);
});

const wantedIn = (prompt: string): string[] => /Draw: (.*)\. $/.exec(prompt)![1]!.split(', ');
const program = (wanted: readonly string[], colour?: string): string =>
  ` ${wanted
    .map((thing, i) => {
      const [size, own, shape] = thing.split(' ');
      return `${size} ${i === 0 && colour ? colour : own} ${shape} at ${i},0`;
    })
    .join('; ')}`;
const otherColour = (wanted: readonly string[]) => (wanted[0]!.includes('red') ? 'blue' : 'red');

/** First drawings: with another colour, and something that cannot be painted. Second ones are as wanted. */
async function play(more: { variant?: string } = {}) {
  const asked: { readonly question: string; readonly text: string }[] = [];
  const pictures = new Set<string>();
  const again: string[] = [];
  const played = await playPictures({
    recipe: 'alphagrpo',
    ...more,
    says: (role, prompt, i) => {
      const wanted = wantedIn(prompt);
      if (role === 'redrawer') again.push(prompt);
      return role === 'redrawer' || i > 1
        ? program(wanted)
        : i
          ? ' red'
          : program(wanted, otherColour(wanted));
    },
    finds: (role, prompt, text) => {
      expect(role).toBe('examiner');
      const question = prompt.replace(/^<image:[^>]+>/, '');
      pictures.add(prompt.slice(0, -question.length));
      asked.push({ question, text });
      // Everything is found likely but the number of shapes.
      return Math.log(text === 'yes' ? 0.9 : 0.4);
    },
  });
  return { ...played, asked, again, pictures };
}

test('a drawing is taken apart into questions, and is drawn again after a look', async () => {
  const { groups, plan, asked, again, decode, round } = await play();
  const [{ task, samples, answersExact }] = groups as [(typeof groups)[0]];
  expect(samples.map(({ role, turn, episode }) => [role, turn, episode])).toEqual([
    ['solver', 0, 0],
    ['solver', 0, 1],
    ['redrawer', 1, 0],
    ['redrawer', 1, 1],
  ]);
  const wanted = task.split(', ');
  // Whoever painted nothing has nothing to look at.
  expect(again).toEqual([
    redrawPrompt(task, painted(program(wanted, otherColour(wanted)))!),
    decode(samples[0]!.prompt),
  ]);
  expect(asked.slice(0, 2 * wanted.length + 1)).toEqual([
    ...wanted.flatMap((thing) => {
      const [size, colour, shape] = thing.split(' ');
      return [colour, size].map((word) => ({ question: `Is there a ${word} ${shape}? `, text: 'yes' }));
    }),
    { question: 'How many shapes are there? ', text: String(wanted.length) },
  ]);
  const pay = (2 * wanted.length * 0.9 + 0.4) / (2 * wanted.length + 1);
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual(
    [pay, 0, pay, pay].map((reward) => expect.closeTo(reward, 12)),
  );
  expect(answersExact).toEqual([false, null, true, true]);
  // Two rewards: each half of the way from the other, over a deviation of √2 halves. Second drawings earned all the same.
  const parts = plan.updates[0]!.parts as PolicyPart[];
  expect(parts.map(({ role, items }) => [role, items.map(({ advantage }) => advantage)])).toEqual([
    ['solver', [expect.closeTo(Math.SQRT1_2, 4), expect.closeTo(-Math.SQRT1_2, 4)]],
    ['redrawer', [0, 0]],
  ]);
  expect(plan.figures).toEqual({ firstExact: 0, secondExact: 1, deadGroups: 0.5 });
  expect(round.roles.examiner).toMatchObject({ version: 0 });
});

test('variants: one verdict on the whole, no second drawings, questions about other drawings', async () => {
  const whole = await play({ variant: 'holistic' });
  expect(whole.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([0, 0, 0, 0]);
  const once = await play({ variant: 'no-reflection' });
  expect(once.groups[0]!.samples.map(({ role }) => role)).toEqual(new Array(4).fill('solver'));
  expect(once.again).toEqual([]);
  expect(once.plan.updates[0]!.parts).toHaveLength(1);
  // Of three drawings two are alike, and others have other pictures.
  const blind = await play({ variant: 'other-pictures' });
  expect([(await play()).pictures.size, blind.pictures.size]).toEqual([2, 3]);
});
