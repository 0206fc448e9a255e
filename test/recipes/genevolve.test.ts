import { expect, test } from 'vitest';
import type { DistillationPart, PolicyPart } from '../../core/plan/training-plan.ts';
import { GAP, lessonIn, taughtIn } from '../../recipes/genevolve/recipe.ts';
import { markPicture, readRequest } from '../../worlds/canvas/requests.ts';
import { playPictures } from './play-pictures.ts';
import { recordsOf, solved } from './records.ts';

const LOOK = 'Look at the mark.';
const program = (things: readonly string[]) =>
  ` ${things.map((thing, row) => `${thing} at ${row},0`).join('; ')}`;

/** Four attempts: a look and what is wanted; a guess; what cannot be read; a look and the first shape alone. */
async function attempts(
  wanted: readonly string[],
  other: readonly string[],
  more: { variant?: string } = {},
) {
  let [first, second] = [0, 0];
  return playPictures({
    recipe: 'genevolve',
    ...more,
    says: (_, prompt) =>
      prompt.includes(LOOK)
        ? [program(wanted), program(wanted.slice(0, 1))][second++]!
        : [LOOK, program(other), ' red', LOOK][first++]!,
    finds: () => expect.unreachable('nothing is measured'),
  });
}
async function play(more: { variant?: string } = {}) {
  const any = ['big red circle', 'small blue cross'];
  // Which request it is does not depend on what is drawn.
  const { groups } = await attempts(any, any, more);
  const { asked, mark, wanted: text } = readRequest(groups[0]!.task)!;
  const wanted = text.split(', ');
  const guess = mark === ' red circle' ? ' blue square' : ' red circle';
  const other = wanted.map((thing, i) =>
    asked.split(', ')[i]!.endsWith('mark') ? thing.replace(mark.trim(), guess.trim()) : thing,
  );
  return { ...(await attempts(wanted, other, more)), wanted, other };
}

/** Rewards 1, (n − 1)/n, 0 and 1/n for n shapes: their mean is 1/2, their deviations √(1/6) and √(5/27). */
const ADVANTAGES: Readonly<Record<number, readonly number[]>> = {
  2: [1.224745, 0, -1.224745, 0],
  3: [1.161895, 0.387298, -1.161895, -0.387298],
};

test('attempts are compared within a request, and the teacher reads what the best had ahead of the worst', async () => {
  const { groups, plan, decode, wanted, other } = await play();
  const [{ samples, answersExact }] = groups as [(typeof groups)[0]];
  const n = wanted.length;
  // Guesses can be another of the wanted shapes.
  const share = other.filter((thing, i) => wanted.includes(thing) && other.indexOf(thing) === i).length / n;
  expect(samples.map(({ turn, rewards }) => [turn ?? 0, rewards.reward])).toEqual([
    [0, 1],
    [1, 1],
    [0, expect.closeTo(share, 12)],
    [0, 0],
    [0, expect.closeTo(1 / n, 12)],
    [1, expect.closeTo(1 / n, 12)],
  ]);
  expect(answersExact).toEqual([true, true, false, false, false, false]);
  expect(share).toBeCloseTo((n - 1) / n, 12);
  const [policy, teacher] = plan.updates[0]!.parts as [PolicyPart, DistillationPart];
  const [best, guessed, unread, half] = ADVANTAGES[n]!;
  expect(policy.items.map(({ advantage }) => advantage)).toEqual(
    [best, best, guessed, unread, half, half].map((a) => expect.closeTo(a!, 4)),
  );
  expect(policy.kl).toEqual({ weight: 0.001, estimator: 'k3', reference: { set: 'main', version: 0 } });
  const lesson = `Lesson: look first; with ${wanted.join(', ')}. `;
  expect(teacher).toMatchObject({
    kind: 'distillation',
    weight: 1,
    teacher: { set: 'main', version: 0 },
    divergence: { kind: 'reverse-kl' },
  });
  expect(teacher.items.map(({ teacherPrompt }) => decode(teacherPrompt!))).toEqual(
    samples.map(({ prompt }) => lesson + decode(prompt)),
  );
  expect(teacher.items.map(({ ids }) => ids)).toEqual(samples.map(({ ids }) => ids));
  // A drawer who has looked reads its own words and a picture.
  expect(decode(samples[1]!.prompt)).toMatch(
    /^Draw: .*\. Look at the mark\.<eos><image:[0-9a-f]{64}:3x3>Now draw\. $/,
  );
  expect(plan.figures).toEqual({ looked: 0.5, taught: 1 });
});

test('variants: no teacher, a teacher alone, and a tool that shows another mark', async () => {
  const kinds = async (variant: string) =>
    (await play({ variant })).plan.updates.flatMap(({ parts }) => parts.map(({ kind }) => kind));
  expect(await kinds('grpo')).toEqual(['policy']);
  expect(await kinds('teacher-alone')).toEqual(['distillation']);
  const showsMark = async (variant?: string) => {
    const { groups, decode } = await play(variant === undefined ? {} : { variant });
    const [{ task, samples }] = groups as [(typeof groups)[0]];
    return decode(samples[1]!.prompt).endsWith(`<eos>${markPicture(task)}`);
  };
  expect([await showsMark(), await showsMark('other-pictures')]).toEqual([true, false]);
});

/** Groups of two attempts each, in characters that stand for themselves. */
const texts = new Map<string, string>();
const attempt = (text: string, reward: number) => {
  const sample = solved(`t${texts.size}`, reward);
  texts.set(sample.ids.join(), `${text}<eos>`);
  return sample;
};
const tools = {
  decode: (ids: readonly number[]) => texts.get(ids.join()) ?? '',
  encode: (text: string) => [...text].map((character) => character.charCodeAt(0)),
};
const said = (ids: readonly number[]) => String.fromCharCode(...ids);

test('a lesson needs a gap, and may be that of the next request', () => {
  const red = program(['big red circle']);
  const { groups } = recordsOf('genevolve', [
    { task: 'a', samples: [attempt(red, 0.5), attempt(program(['big blue circle']), 0.5 - GAP + 0.01)] },
    { task: 'b', samples: [attempt(red, 1), attempt(program(['big green circle']), 0)] },
  ]);
  const [near, far] = groups as [(typeof groups)[0], (typeof groups)[0]];
  expect(lessonIn(near, tools.decode)).toBeNull();
  expect(lessonIn(far, tools.decode)).toBe('Lesson: with big red circle; without big green circle. ');
  expect(lessonIn(far, tools.decode, 'best-alone')).toBe('Lesson: with big red circle. ');
  const taught = (variant?: string) =>
    taughtIn(groups, tools, variant).map(({ sample, context }) => [tools.decode(sample.ids), said(context)]);
  const lesson = 'Lesson: with big red circle; without big green circle. ';
  expect(taught()).toEqual([
    [`${red}<eos>`, lesson],
    [`${program(['big green circle'])}<eos>`, lesson],
  ]);
  expect(taught('shuffled-lesson')).toEqual([
    [`${red}<eos>`, lesson],
    [`${program(['big blue circle'])}<eos>`, lesson],
  ]);
});
