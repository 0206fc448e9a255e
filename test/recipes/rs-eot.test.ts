import { expect, test } from 'vitest';
import type { PolicyPart, SftPart } from '../../core/plan/training-plan.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import { BEGUN, lookedOn } from '../../protocols/looker.ts';
import { evidencePay, phaseOf } from '../../recipes/rs-eot/recipe.ts';
import { lookAt, mapPrompt, readMap } from '../../worlds/canvas/maps.ts';
import { playPictures } from './play-pictures.ts';

test('rewards by hand: nine tenths of the overlap and a tenth for answering, and the share of right choices', () => {
  expect([1, 1 / 7, 0].map((overlap) => evidencePay('where', overlap))).toEqual([
    1,
    expect.closeTo(0.9 / 7 + 0.1, 12),
    expect.closeTo(0.1, 12),
  ]);
  expect([1, 0.75].map((share) => evidencePay('which', share))).toEqual([1, 0.75]);
  expect([evidencePay('where', 0.9, 'binary'), evidencePay('which', 0.75, 'binary')]).toEqual([
    expect.closeTo(0.1, 12),
    0,
  ]);
});

test('four rounds of conversations, eight of boxes, then choices; variants leave a stage out', () => {
  const phases = (variant?: string) =>
    [1, 4, 5, 12, 13].map((index) => phaseOf({ index, settings: { variant } as unknown as RunSettings }));
  expect(phases()).toEqual(['traces', 'traces', 'grounding', 'grounding', 'choices']);
  expect(phases('no-traces')).toEqual(['grounding', 'grounding', 'grounding', 'grounding', 'choices']);
  expect(phases('no-grounding')).toEqual(['traces', 'traces', 'choices', 'choices', 'choices']);
});

const WRONG = '2';

/** Conversations in which two parts are looked at; the third and the fourth answer at once, the fourth off the grammar. */
async function converse(more: { variant?: string; rewardFunction?: string } = {}) {
  const asked: { readonly role: string; readonly prompt: string }[] = [];
  const played = await playPictures({
    recipe: 'rs-eot',
    ...more,
    says: (role, prompt, i) => {
      asked.push({ role, prompt });
      if (role === 'perceiver') return WRONG;
      const looks = prompt.match(/Look \d/g) ?? [];
      if (looks.length === 0) return i < 2 ? 'Look 2' : i === 2 ? 'Answer:0' : 'nothing';
      return looks.length === 1 ? 'Look 3' : 'Answer:1,2';
    },
  });
  return { ...played, asked };
}

test('a reasoner sees nothing, a perceiver one part, and both are retold as the solver’s own words', async () => {
  const { groups, plan, decode, asked } = await converse({ rewardFunction: 'format' });
  const [{ task, samples }] = groups as [(typeof groups)[0]];
  const { scene } = readMap(task)!;
  const question = `${task.split(' | ')[1]} `;
  for (const { role, prompt } of asked) expect(prompt.includes('<image:'), prompt).toBe(role === 'perceiver');
  expect(new Set(asked.map(({ prompt }) => prompt))).toEqual(
    new Set([
      question,
      `${lookAt(scene, 2)}${question}Look 2:`,
      `${question}Look 2:${WRONG}. `,
      `${lookAt(scene, 3)}${question}Look 3:`,
      `${question}Look 2:${WRONG}. Look 3:${WRONG}. `,
    ]),
  );
  expect(samples.map(({ role, outcome }) => `${role} ${outcome}`)).toEqual([
    ...['reasoner ok', 'perceiver ok', 'reasoner ok', 'perceiver ok', 'reasoner ok'],
    ...['reasoner ok', 'perceiver ok', 'reasoner ok', 'perceiver ok', 'reasoner ok'],
    'reasoner ok',
    'reasoner off-grammar',
  ]);
  // The control keeps what ends with an answer: three of four, two with three turns each.
  const [update] = plan.updates;
  const { role, items } = update!.parts[0] as SftPart;
  expect([role, update!.epochs, items.length]).toEqual(['solver', 2, 7]);
  const told = items.slice(0, 3).map(({ prompt, ids }) => [decode(prompt), decode(ids)]);
  const begin = mapPrompt(task);
  const [first, second] = ['Look 2<eos>', `${WRONG}. Look 3<eos>`];
  expect(told).toEqual([
    [begin, first],
    [`${begin}${first}${lookAt(scene, 2)}Seen:`, second],
    [
      `${begin}${first}${lookAt(scene, 2)}Seen:${second}${lookAt(scene, 3)}Seen:`,
      `${WRONG}. Answer:1,2<eos>`,
    ],
  ]);
  expect(plan.figures).toEqual({ accepted: 0.75, traceLooks: expect.closeTo(4 / 3, 12) });
});

test('a conversation is taught where its answer is exact; after one glance the answer alone is', async () => {
  const exact = await playPictures({
    recipe: 'rs-eot',
    says: (role, prompt) => {
      if (role === 'reasoner' && !prompt.includes('Look')) return 'Look 1';
      if (role === 'reasoner') return 'Answer:1,2';
      return WRONG;
    },
  });
  const hits = exact.groups[0]!.answersExact.map((one) => one === true);
  const parts = exact.plan.updates.flatMap(({ parts }) => parts as SftPart[]);
  expect(parts.flatMap(({ items }) => items)).toHaveLength(hits.some(Boolean) ? 8 : 0);
  const glance = await converse({ rewardFunction: 'format', variant: 'one-glance' });
  const { items } = glance.plan.updates[0]!.parts[0] as SftPart;
  expect(items.map(({ prompt, ids }) => [glance.decode(prompt), glance.decode(ids)])).toEqual(
    ['Answer:1,2', 'Answer:1,2', 'Answer:0'].map((answer) => [
      mapPrompt(glance.groups[0]!.task),
      `${answer}<eos>`,
    ]),
  );
});

test('a look after the last one ends an episode without an answer', () => {
  let looking = BEGUN;
  for (const text of ['Look 1<eos>', ...new Array<string>(4).fill('nothing. Look 2<eos>')])
    looking = lookedOn(looking, text).now;
  expect(looking).toMatchObject({ at: null, answer: null, isOver: true });
  expect(looking.looks.map(({ part }) => part)).toEqual([1, 2, 2, 2]);
});

/** Four episodes about choices: a right answer after a look, the opposite at once, no answer, and a look after the last one. */
async function choose({ index = 13, ...more }: { variant?: string; index?: number } = {}) {
  const prompts: string[] = [];
  const played = await playPictures({
    recipe: 'rs-eot',
    index,
    ...more,
    says: (role, prompt, i) => {
      expect(role).toBe('solver');
      prompts.push(prompt);
      const looks = prompt.match(/Look \d/g) ?? [];
      if (looks.length === 0) return ['Look 1', 'Answer:1,2,3', 'nothing. Look 1', 'Look 2'][i]!;
      if (prompt.includes('Look 1')) return index === 5 ? 'nothing. Answer:0,0;5,5' : 'nothing. Answer:1';
      return 'nothing. Look 2';
    },
  });
  return { ...played, prompts };
}

test('choices earn the share that is right, for every turn of an episode', async () => {
  const { groups, plan, prompts, decode } = await choose();
  const [{ task, samples, answersExact }] = groups as [(typeof groups)[0]];
  // By reading the task: which of the three are there?
  const things = task.split(': ')[1]!.split(' | ')[0]!.split('; ');
  const there = task
    .split('there:1 ')[1]!
    .replace('?', '')
    .split(/;\d /)
    .map((said) =>
      things.some((thing) =>
        said.split(' ').every((word) => word === 'shape' || thing.split(' ').includes(word)),
      ),
    );
  const share = (said: readonly boolean[]) => said.filter((one, i) => one === there[i]).length / 3;
  const [one, all] = [share([true, false, false]), share([true, true, true])];
  const paid = [one, all, 0, 0];
  const turns = [2, 1, 1, 5];
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual(
    paid.flatMap((reward, e) => new Array(turns[e]!).fill(reward)),
  );
  expect(answersExact[0]).toBe(one === 1);
  const centre = paid.reduce((a, b) => a + b) / 4;
  const spread = Math.sqrt(paid.reduce((sum, r) => sum + (r - centre) ** 2, 0) / 3);
  const part = plan.updates[0]!.parts[0] as PolicyPart;
  expect(part.items.map(({ advantage }) => advantage)).toEqual(
    paid.flatMap((reward, e) => new Array(turns[e]!).fill(expect.closeTo((reward - centre) / spread, 4))),
  );
  expect(part.kl).toEqual({ weight: 0.01, estimator: 'k3', reference: { set: 'main', version: 0 } });
  const { scene } = readMap(task)!;
  expect(decode(samples[1]!.prompt)).toBe(`${mapPrompt(task)}Look 1<eos>${lookAt(scene, 1)}Seen:`);
  expect(prompts).toContain(mapPrompt(task));
  expect(plan.figures).toMatchObject({ looks: 5 / 4, parts: 2 / 4, answered: 0.5, deadGroups: 0 });
});

test('the control is shown another map, and boxes are asked before choices', async () => {
  const blind = await choose({ variant: 'other-pictures' });
  const [{ task, samples }] = blind.groups as [(typeof blind.groups)[0]];
  const shown = blind.decode(samples[0]!.prompt);
  expect(shown).not.toBe(mapPrompt(task));
  expect(shown.replace(/^<image:[^>]+>/, '')).toBe(mapPrompt(task).replace(/^<image:[^>]+>/, ''));
  const boxes = await choose({ index: 5 });
  const [{ task: where, samples: turns }] = boxes.groups as [(typeof boxes.groups)[0]];
  // The bounds of what is asked for by reading the task: the box around the whole map shares all of it.
  const said = /Where is every (.*)\?$/
    .exec(where)![1]!
    .split(' ')
    .filter((word) => word !== 'shape');
  const things = where.split(': ')[1]!.split(' | ')[0]!.split('; ');
  const places = things
    .filter((thing) => said.every((word) => thing.split(' ').includes(word)))
    .map((thing) => thing.split(' at ')[1]!.split(',').map(Number));
  const along = (axis: number) => {
    const all = places.map((place) => place[axis]!);
    return Math.max(...all) - Math.min(...all) + 1;
  };
  // Choices are no box.
  expect(turns.map(({ rewards }) => rewards.reward)).toEqual(
    [2, 1, 1, 5].flatMap((count, e) =>
      new Array(count).fill(e === 0 ? expect.closeTo((0.9 * along(0) * along(1)) / 36 + 0.1, 12) : 0),
    ),
  );
});
