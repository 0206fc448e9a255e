import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { geometricMean } from '../../recipes/gvu/recipe.ts';
import { painted, readPrompt } from '../../worlds/canvas/drawing.ts';
import { playPictures } from './play-pictures.ts';

test('a reward by hand: three tokens of probabilities 1/2, 1/4 and 1/8', () => {
  expect(geometricMean([Math.log(1 / 2), Math.log(1 / 4), Math.log(1 / 8)])).toBeCloseTo(1 / 4, 12);
});

const wantedOf = (prompt: string): string[] => /^Draw: (.*)\. $/.exec(prompt)![1]!.split(', ');
/** What is wanted, each shape in a row of its own; the colour of the first one may be another. */
const program = (wanted: readonly string[], colour?: string): string =>
  wanted
    .map((thing, i) => {
      const [size, own, shape] = thing.split(' ');
      return `${size} ${i === 0 && colour ? colour : own} ${shape} at ${i},0`;
    })
    .join('; ')
    .replace(/^/, ' ');

/** A group of four drawings: as wanted, with another colour, something that cannot be painted, as wanted. */
const play = (more: { variant?: string; rewardFunction?: string } = {}) => {
  const seen: { readonly prompt: string; readonly text: string }[] = [];
  return playPictures({
    recipe: 'gvu',
    ...more,
    says: (_, prompt, i) => {
      const wanted = wantedOf(prompt);
      const other = wanted[0]!.includes('red') ? 'blue' : 'red';
      return [program(wanted), program(wanted, other), ' red', program(wanted)][i]!;
    },
    // The first picture is read with ease.
    finds: (role, prompt, text) => {
      expect(role).toBe('reader');
      seen.push({ prompt, text });
      return seen.length === 1 ? Math.log(0.5) : Math.log(0.1);
    },
  }).then((played) => ({ ...played, seen }));
};

test('a drawing earns how likely the reader finds what was wanted, and nothing where none was painted', async () => {
  const { groups, plan, seen } = await play();
  const [{ task, samples, answersExact }] = groups as [(typeof groups)[0]];
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual(
    [0.5, 0.1, 0, 0.1].map((reward) => expect.closeTo(reward, 12)),
  );
  expect(answersExact).toEqual([true, false, null, true]);
  const wanted = task.split(', ');
  expect(seen.map(({ text }) => text)).toEqual(new Array(3).fill(` ${task}`));
  expect(seen[0]!.prompt).toBe(readPrompt(painted(program(wanted))!));
  expect(seen[2]!.prompt).toBe(seen[0]!.prompt);
  expect(seen[1]!.prompt).not.toBe(seen[0]!.prompt);
  // Mean 0.175, sample deviation 0.221736.
  const part = plan.updates[0]!.parts[0] as PolicyPart;
  expect(part.items.map(({ advantage }) => advantage)).toEqual(
    [1.465707, -0.33824, -0.789227, -0.33824].map((a) => expect.closeTo(a, 4)),
  );
  expect(part.kl).toEqual({ weight: 0.001, estimator: 'k3', reference: { set: 'main', version: 0 } });
  expect(plan.figures).toEqual({ rewardRight: expect.closeTo(0.3), rewardWrong: expect.closeTo(0.05) });
});

test('variants: shapes alone, a reader that is not trained, and other drawings', async () => {
  const { seen, groups } = await play({ variant: 'no-attributes' });
  const shapes = groups[0]!.task.split(', ').map((thing) => thing.split(' ')[2]);
  expect(seen[0]!.text).toBe(` ${shapes.join(', ')}`);
  const frozen = await play({ variant: 'frozen-reader' });
  expect(frozen.round.roles.reader).toMatchObject({ version: 0 });
  const blind = await play({ variant: 'other-pictures' });
  expect(new Set(blind.seen.map(({ prompt }) => prompt)).size).toBe(3);
  const own = await play();
  expect(blind.seen[0]!.prompt).not.toBe(own.seen[0]!.prompt);
});

test('exact drawings are an upper bound, and a reader is not asked then', async () => {
  const { groups, seen } = await play({ rewardFunction: 'exact' });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, 0, 1]);
  expect(seen).toEqual([]);
});
