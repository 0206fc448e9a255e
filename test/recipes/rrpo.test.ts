import { expect, test } from 'vitest';
import type {
  DistillationPart,
  LearnTools,
  PreferencePart,
  Sequence,
  TrainingPlan,
} from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { otherPlaces } from '../../recipes/rrpo/other-places.ts';
import { repeating } from '../../recipes/rrpo/recipe.ts';
import { parseResponse } from '../../worlds/style/family.ts';
import { damage, unformed } from '../../worlds/style/planted.ts';
import { withWordMarked } from '../../worlds/style/word-tokens.ts';
import { recordsOf, solved, tokenizer } from './records.ts';

const rrpo = shipped.find('rrpo');

test('an error is an earlier word in place of a later one, and only a response without one gets it', () => {
  expect(damage('ana bel', 'any')).toEqual({ kept: ['ana', 'bel'], damaged: ['ana', 'ana'], at: 1 });
  const { kept, damaged, at } = damage('ana bel dim tok', 's')!;
  expect(damaged.map((word, i) => word === kept[i])).toEqual(kept.map((_, i) => i !== at));
  expect(kept.slice(0, at)).toContain(damaged[at]);
  expect(damage('ana', 's')).toBeNull();
  expect(damage('ana bel ana', 's')).toBeNull();
  // Two spaces: the word between them has no letters, and nothing could be compared there.
  expect(damage('ana  bel', 's')).toBeNull();
});

test('a form is broken at any word but the first, of every response of two words', () => {
  expect(unformed('ana bel', 'any')).toEqual({ kept: ['ana', 'bel'], damaged: ['ana', '<sep>'], at: 1 });
  // A response that repeats a word has a form, too.
  const { kept, damaged, at } = unformed('ana bel ana', 's')!;
  expect(damaged.map((word, i) => word === kept[i])).toEqual(kept.map((_, i) => i !== at));
  expect(parseResponse(`<answer>${kept.join(' ')}<eos>`).ok).toBe(true);
  expect(parseResponse(`<answer>${damaged.join(' ')}<eos>`).ok).toBe(false);
  expect(unformed('ana', 's')).toBeNull();
  expect(unformed('ana  bel', 's')).toBeNull();
});

test('the marks are on the letters of one word', () => {
  const { ids, marks } = withWordMarked(['ana', 'be', 'tok'], 1, tokenizer.encode);
  expect(tokenizer.decode(ids)).toBe('<answer>ana be tok<eos>');
  expect(marks).toEqual([0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]);
});

test('other places are never the one in which the two differ', () => {
  const pair = { kept: ['a', 'b', 'c'], damaged: ['a', 'a', 'c'], at: 1 };
  const drawn = Array.from({ length: 40 }, (_, i) => otherPlaces(pair, String(i))).flat();
  expect(new Set(drawn)).toEqual(new Set([0, 2]));
});

test('the share of responses in which a word stands twice leaves out what is no response', () => {
  const answered = ['ana ana', 'ana bel', null].map((response) => ({ task: '', response, score: 0 }));
  expect(repeating(answered)).toBe(0.5);
  expect(repeating([{ task: '', response: null, score: 0 }])).toBeNull();
});

/** Version 0 finds every token e^-1 likely; the policy finds the letters of "bel" likelier by 0.2 nats, and all else by 0.1 less. */
const tools = {
  decode: tokenizer.decode,
  encode: tokenizer.encode,
  score: async (_set: string, sequences: readonly Sequence[], version?: number) =>
    sequences.map(({ ids }) =>
      Float32Array.from(ids, (id) => {
        if (version === 0) return -1;
        return -1 + ('bel'.includes(tokenizer.decode([id])) ? 0.2 : -0.1);
      }),
    ),
} as unknown as LearnTools;
/** A pair can be made of the first response alone: the second repeats a word, and the third is none. */
const learn = (variant?: string, preferred = 1, rewardFunction = 'planted') =>
  rrpo.learn(
    recordsOf(
      'rrpo',
      [
        {
          task: 'az 2-4:tok bel ana dim',
          samples: [
            solved('<answer>ana bel<eos>', preferred),
            solved('<answer>ana ana<eos>', 1),
            solved('x<eos>', 1),
          ],
        },
      ],
      { rewardFunction, ...(variant ? { variant } : {}) },
    ),
    tools,
  );
const partsOf = ({ updates }: TrainingPlan) => updates[0]!.parts as [PreferencePart, DistillationPart?];
const texts = (sequences: readonly Sequence[]) => sequences.map(({ ids }) => tokenizer.decode(ids));
// <answer> a n a _ then the word in question, then <eos>.
const MARKS = [0, 0, 0, 0, 0, 1, 1, 1, 0];

test('a response against itself with an error, by the word in which they differ, and a KL on the preferred one', async () => {
  const plan = await learn();
  const [{ pairs, objective, reference }, leash] = partsOf(plan);
  expect(pairs).toHaveLength(1);
  for (const { chosen, rejected, spans } of pairs) {
    expect(texts([chosen, rejected])).toEqual(['<answer>ana bel<eos>', '<answer>ana ana<eos>']);
    expect(spans).toEqual([MARKS, MARKS]);
    expect(chosen.prompt).toEqual(rejected.prompt);
  }
  expect(objective).toEqual({ kind: 'dpo', beta: 0.5 });
  expect(reference).toEqual({ set: 'main', version: 0 });
  expect(leash).toMatchObject({
    kind: 'distillation',
    weight: 1,
    teacher: { set: 'main', version: 0 },
    divergence: { kind: 'forward-kl' },
  });
  expect(leash!.items).toEqual(pairs.map(({ chosen }) => chosen));
  // Six tokens that both share: <answer>, "ana", the space and the end, all less likely by 0.1.
  expect(plan.figures!.kept).toBeCloseTo(-0.1, 6);
  // Of each prompt 9 + 9 + 2 tokens are written, of which three are the letters of "bel".
  expect(plan.figures!.kl).toBeCloseTo((3 * 0.2 - 17 * 0.1) / 20, 6);
});

test('the arms: no KL, no spans, and the words that do not differ', async () => {
  const [dpo, ...none] = partsOf(await learn('dpo'));
  expect(none).toEqual([]);
  expect(dpo.pairs[0]!.spans).toBeUndefined();
  const [noKl, ...nothing] = partsOf(await learn('no-kl'));
  expect(nothing).toEqual([]);
  expect(noKl.pairs[0]!.spans).toEqual([MARKS, MARKS]);
  const [drawn, leash] = partsOf(await learn('random-spans'));
  expect(drawn.pairs[0]!.spans).toEqual([
    [0, 1, 1, 1, 0, 0, 0, 0, 0],
    [0, 1, 1, 1, 0, 0, 0, 0, 0],
  ]);
  expect(leash).toBeDefined();
});

test('where the damaged response is preferred, its marks and the KL go with it', async () => {
  const plan = await learn(undefined, 0);
  const [{ pairs }, leash] = partsOf(plan);
  expect(texts([pairs[0]!.chosen, pairs[0]!.rejected])).toEqual([
    '<answer>ana ana<eos>',
    '<answer>ana bel<eos>',
  ]);
  expect(leash!.items).toEqual([pairs[0]!.chosen]);
  // What the good response keeps is measured on the good one, whichever is preferred.
  expect(plan.figures!.kept).toBeCloseTo(-0.1, 6);
});

test('for form alone every response is compared with itself without its form, also one that repeats a word', async () => {
  const [{ pairs }, leash] = partsOf(await learn(undefined, 1, 'format'));
  expect(texts(pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]))).toEqual([
    '<answer>ana bel<eos>',
    '<answer>ana <sep><eos>',
    '<answer>ana ana<eos>',
    '<answer>ana <sep><eos>',
  ]);
  // A tag is one token.
  expect(pairs[0]!.spans).toEqual([MARKS, [0, 0, 0, 0, 0, 1, 0]]);
  expect(leash!.items).toEqual(pairs.map(({ chosen }) => chosen));
});

test('a response is always preferred to itself with an error or without its form, or by a coin; what is none is missing', async () => {
  const write = (_prompt: string, i: number) => ['<answer>ana bel<eos>', 'x<eos>'][i]!;
  const zeros = async (_set: string, sequences: readonly Sequence[]) =>
    sequences.map(({ ids }) => new Float32Array(ids.length));
  const paid = async (rewardFunction: string) =>
    (
      await playWritten(rrpo, write, { tasks: 8, groupSize: 2, rewardFunction, tools: { score: zeros } })
    ).groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward));
  for (const form of ['planted', 'format'])
    for (const rewards of await paid(form)) expect(rewards).toEqual([1, null]);
  expect(new Set((await paid('random')).map(([first]) => first))).toEqual(new Set([0, 1]));
});
