/**
 * Worths of updates, by hand. What is known of a document begins at .1. An update adds to its document's numbers, and takes from all that were taken in before, by the
 * layers that it changes:
 *
 *     layers   adds   takes
 *     0        .2     0
 *     3        .4     .05
 *     03       .6     .3
 *     23       .5     .1        the last two
 *     0123     .8     .2        all
 */
import { expect, test } from 'vitest';
import type {
  LearnTools,
  PreferencePart,
  Sequence,
  SftPart,
  TrialUpdate,
} from '../../core/plan/training-plan.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { streamsOf } from '../../recipes/scol/taking-in.ts';
import { isHeldOutDocument } from '../../worlds/documents/family.ts';
import { evaluateWritten } from './evaluate-written.ts';

const scol = shipped.find('scol');
const BY_LAYERS: Readonly<Record<string, readonly [adds: number, takes: number]>> = {
  0: [0.2, 0],
  3: [0.4, 0.05],
  '03': [0.6, 0.3],
  23: [0.5, 0.1],
  '0123': [0.8, 0.2],
};
const ANSWERS = ['0', '3', '03'];

interface Asked {
  readonly updates: readonly TrialUpdate[];
  readonly sequences: readonly Sequence[];
}

const itemsOf = ({ parts }: TrialUpdate) => (parts[0] as SftPart).items;
const sorted = (document: string) => document.split(' ').sort().join(' ');

async function play({
  answers = ANSWERS,
  ...more
}: WriteOptions & { answers?: readonly string[] | ((prompt: string) => readonly string[]) } = {}) {
  const asked: Asked[] = [];
  const of = { text: (_ids: readonly number[]) => '' };
  const tools = {
    trial: (async (set, updates, sequences) => {
      expect(set).toBe('main');
      asked.push({ updates, sequences });
      const taken = updates.map((update) => {
        const [{ prompt, ids }] = itemsOf(update) as [Sequence];
        return { document: of.text([...prompt, ...ids]), layers: update.only.layers.join('') };
      });
      return sequences.map(({ prompt, ids }) => {
        const name = of.text(prompt).slice(-2);
        const at = taken.findIndex(({ document }) => document.includes(name + of.text(ids)));
        const takes = taken.slice(at + 1).map(({ layers }) => BY_LAYERS[layers]?.[1] ?? 0);
        const adds = at < 0 ? 0 : (BY_LAYERS[taken[at]!.layers]?.[0] ?? 0);
        return Float32Array.of(Math.log(0.1 + adds - (at < 0 ? 0 : takes.reduce((a, b) => a + b, 0))));
      });
    }) as LearnTools['trial'],
  };
  const write = (prompt: string, i: number) => {
    const all = typeof answers === 'function' ? answers(prompt) : answers;
    return `${all[i]}<eos>`;
  };
  const asks = { tasks: 3, groupSize: typeof answers === 'function' ? 2 : answers.length, tools, ...more };
  // The round's tokenizer is known once it is played: `learn` is asked after all texts were written.
  const recipe = {
    ...scol,
    learn: ((records, given) => {
      of.text = (ids) => given.decode(ids);
      return scol.learn(records, given);
    }) as typeof scol.learn,
  };
  const played = await playWritten(recipe, write, asks);
  const text = ({ ids }: Pick<Sequence, 'ids'>) => played.tokenizer.decode(ids).replace('<eos>', '');
  const part = played.plan.updates[0]?.parts[0] as PreferencePart | undefined;
  return {
    ...played,
    asked,
    part,
    pairs: part?.pairs?.map(({ chosen, rejected }) => [text(chosen), text(rejected)]),
  };
}

test('an update is worth what its document gains less all that earlier ones lose, and the stream goes on from the best', async () => {
  const { pairs, part, plan, groups, tokenizer } = await play();
  // Of the first document .2, .4 and .6. Then .2, .4 - .05 and .6 - .3. Then .2, .4 - .1 and .6 - .6.
  expect(pairs).toEqual([
    ['03', '0'],
    ['3', '0'],
    ['3', '03'],
  ]);
  expect(part!.objective).toEqual({ kind: 'ipo', tau: 0.5, level: 'sum' });
  expect(part!.pairs.map(({ chosen }) => tokenizer.decode(chosen.prompt))).toEqual(
    groups.map(({ task }) => `<propose>${task}<sep>`),
  );
  const { 'kept.random': random, ...figures } = plan.figures!;
  const wanted = {
    // After 03, 3 and 3: .7 - .1, .5 - .05 and .5.
    'kept.best': 1.55 / 3,
    // After 0 each time.
    kept: 0.3,
    // .6 - .2, .6 - .1 and .6; .9 - .4, .9 - .2 and .9.
    'kept.last': 0.5,
    'kept.all': 0.7,
    atOnce: (0.7 + 0.5 + 0.5) / 3,
    worth: (1.2 + 0.85 + 0.5) / 9,
    pairs: 3,
    layers: 4 / 3,
  };
  expect(figures).toEqual(
    Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, expect.closeTo(value, 5)])),
  );
  expect(random).toBeGreaterThan(0);
});

test('the mean of what is lost counts less than the sum, and a gain alone is paid in full', async () => {
  // Of the third document 03 is worth .6 - .3, above 0 with .2.
  expect((await play({ variant: 'mean-loss' })).pairs).toEqual([
    ['03', '0'],
    ['3', '0'],
    ['3', '0'],
  ]);
  expect((await play({ variant: 'gain-alone' })).pairs).toEqual(Array(3).fill(['03', '0']));
});

test('the preference is against the version that the round trains from', async () => {
  expect((await play({ index: 3 })).part!.reference).toEqual({ set: 'main', version: 2 });
});

test('the best answer alone is imitated where the variant says so', async () => {
  const { part, tokenizer } = await play({ variant: 'imitation' });
  const { kind, items } = part as unknown as SftPart;
  expect(kind).toBe('sft');
  expect(items.map(({ ids }) => tokenizer.decode(ids))).toEqual(['03<eos>', '3<eos>', '3<eos>']);
});

test('an update takes ten steps on four orders, each set of layers is tried once, and other orders are asked', async () => {
  const { asked, groups, tokenizer } = await play({ answers: ['0', '3', '0', '3'] });
  const text = (ids: readonly number[]) => tokenizer.decode([...ids]);
  // Two sets for each document, the stream before it, and its end in four other ways.
  expect(asked.map(({ updates }) => updates.length)).toEqual([0, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3]);
  const [first] = asked[1]!.updates as [TrialUpdate];
  const { parts: _, ...how } = first;
  expect(how).toEqual({ epochs: 10, minibatches: 1, only: { layers: [0], learningRate: 3e-3 } });
  const taught = itemsOf(first).map(({ prompt, ids }) => text([...prompt, ...ids]));
  expect(new Set(taught).size).toBe(4);
  for (const telling of taught) expect(sorted(telling)).toBe(sorted(groups[0]!.task));
  expect(itemsOf(first).map(({ prompt }) => prompt.length)).toEqual([1, 1, 1, 1]);
  const { sequences } = asked[0]!;
  expect(sequences).toHaveLength(3 * 2 * 5);
  const orders = [sequences.slice(0, 5), sequences.slice(5, 10)].map((numbers) => {
    for (const [i, { prompt, ids }] of numbers.slice(1).entries()) {
      const before = numbers[i]!;
      expect(text(prompt).startsWith(`${text([...before.prompt, ...before.ids])} `)).toBe(true);
      expect(text(ids)).toMatch(/^[1-8]$/);
    }
    const last = numbers[4]!;
    return text([...last.prompt, ...last.ids]);
  });
  for (const order of orders) expect(sorted(order)).toBe(sorted(groups[0]!.task));
  expect(new Set([...taught, ...orders]).size).toBe(6);
});

test('an answer that names no layers is the worst, and a document of which all answers are such is not taken in', async () => {
  const none = await play({ answers: ['0', '30', '3'] });
  expect(none.pairs).toEqual(Array(3).fill(['3', '30']));
  const documents: string[] = [];
  const { pairs, plan, asked } = await play({
    answers: (prompt) => {
      if (!documents.includes(prompt)) documents.push(prompt);
      return documents.indexOf(prompt) === 1 ? ['', '00'] : ['3', '3'];
    },
  });
  // All that name layers name the same, so that there is nothing to choose.
  expect(pairs).toBeUndefined();
  expect(plan.updates).toEqual([]);
  expect(Math.max(...asked.map(({ updates }) => updates.length))).toBe(3);
  // .5 - .05, .1 and .5.
  expect(plan.figures).toMatchObject({
    'kept.best': expect.closeTo(1.05 / 3, 5),
    kept: expect.closeTo(1.05 / 3, 5),
    atOnce: expect.closeTo(0.5, 5),
    pairs: 0,
  });
});

test('the judge knows no worth; the controls pay the form and a coin, and the best of these is taken in', async () => {
  const answers = ['30', '0', '3', '3'];
  const paid = async (rewardFunction?: string) => {
    const played = await play({ answers, tasks: 6, ...(rewardFunction ? { rewardFunction } : {}) });
    return {
      ...played,
      pay: played.groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward)),
    };
  };
  expect((await paid()).pay).toEqual(Array(6).fill([null, null, null, null]));
  const format = await paid('format');
  expect(format.pay).toEqual(Array(6).fill([0, 1, 1, 1]));
  expect(format.pairs).toEqual(Array(6).fill(['0', '30']));
  const random = await paid('random');
  // Equal answers are paid alike.
  for (const [off, , ...same] of random.pay) expect([off, new Set(same).size]).toEqual([0, 1]);
  expect(new Set(random.pay.map((row) => row.slice(1, 3).join())).size).toBeGreaterThan(1);
  for (const [g, row] of random.pay.entries())
    expect(random.pairs![g]![0]).toBe(row[1]! >= row[2]! ? '0' : '3');
  expect(Object.values(scol.rewards).some(({ usesGold }) => usesGold)).toBe(false);
});

test('a stream has six documents, in which no name comes twice; a document that is missing leaves it shorter', async () => {
  const { groups } = await play({ tasks: 14, answers: ['3'] });
  const streams = streamsOf(groups);
  expect(streams.map(({ length }) => length)).toEqual([6, 6, 2]);
  for (const stream of streams) {
    const names = stream.flatMap(({ group }) => group.task.split(' ').map((fact) => fact.slice(0, 2)));
    expect(new Set(names).size).toBe(5 * stream.length);
  }
  for (const { task } of groups) expect(isHeldOutDocument(`${task}:`)).toBe(false);
  const some = streamsOf(groups.filter(({ index }) => index !== 1 && index !== 6));
  expect(some.map((stream) => stream.map(({ group }) => group.index))).toEqual([
    [0, 2, 3, 4, 5],
    [7, 8, 9, 10, 11],
    [12, 13],
  ]);
  const alone = streamsOf([groups[3] as ScoredGroup]);
  expect(alone[0]![0]).toEqual(streams[0]![3]);
});

test('an evaluation says which layers are named for unseen documents', async () => {
  const asked: string[] = [];
  const { heldOut, figures } = await evaluateWritten(scol, 40, (prompt) => {
    const document = /^<propose>(.+)<sep>$/.exec(prompt)![1]!;
    if (!asked.includes(document)) asked.push(document);
    return ['02<eos>', '3<eos>', '<eos>', '02'][asked.indexOf(document) % 4]!;
  });
  expect(asked).toHaveLength(40);
  for (const document of asked) expect(isHeldOutDocument(`${document}:`)).toBe(true);
  expect(heldOut).toMatchObject({ n: 40, accuracy: 0.5, sampled: 0.5, formatRate: 0.5 });
  expect(figures).toEqual({ sets: 2, 'names.0': 0.5, 'names.1': 0, 'names.2': 0.5, 'names.3': 0.5 });
});
