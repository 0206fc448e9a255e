import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { deriveId, Random } from '../../core/random.ts';
import { boundVersion } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { pairOf, spin } from '../../recipes/spin/recipe.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import {
  CORPUS_SIZE,
  exactTrace,
  workedCorpus,
  workedExample,
} from '../../worlds/arithmetic/worked-corpus.ts';

const tokenizer = openTokenizer(characterTokenizer().json);
const tools = { encode: tokenizer.encode, decode: tokenizer.decode } as LearnTools;
const ID = deriveId('x');

test('the corpus is distinct, never held out, of 2 to 5 operators in equal shares, and its traces are exact', () => {
  const tasks = workedCorpus();
  expect(new Set(tasks).size).toBe(CORPUS_SIZE);
  expect(tasks.some((task) => arithmetic.isHeldOut(task))).toBe(false);
  expect([2, 3, 4, 5].map((n) => tasks.filter((task) => task.length === 2 * n + 1).length)).toEqual(
    [1, 1, 1, 1].map((share) => (share * CORPUS_SIZE) / 4),
  );
  expect(exactTrace('3+4-9')).toBe('<step>7<step>-2<answer>-2<eos>');
});

const dataOf = (task: string) => {
  const { prompt, completion } = workedExample(task);
  return { prompt: tokenizer.encode(prompt), ids: tokenizer.encode(completion) };
};

test('the data’s response is preferred to the opponent’s; the same response makes no pair', () => {
  const wrong = tokenizer.encode('<step>7<step>16<answer>16<eos>');
  const pair = pairOf({ task: '3+4-9', ids: wrong }, dataOf)!;
  expect(tokenizer.decode(pair.chosen.prompt)).toBe('<solve>3+4-9<sep>');
  expect(tokenizer.decode(pair.chosen.ids)).toBe('<step>7<step>-2<answer>-2<eos>');
  expect(pair.rejected).toEqual({ prompt: pair.chosen.prompt, ids: wrong });
  const same = tokenizer.encode('<step>7<step>-2<answer>-2<eos>');
  expect(pairOf({ task: '3+4-9', ids: same }, dataOf)).toBeNull();
});

/** A round in which the opponent, version 2, wrote `answer` to each task. */
function records(
  settings: { rewardFunction?: string; variant?: string; freeze?: string[] },
  recipeState: unknown,
) {
  const policy = { name: 'p', version: 2 };
  const group = (task: string, text: string, index: number): ScoredGroup => ({
    round: ID,
    group: deriveId('group', index),
    index,
    task,
    proposal: null,
    samples: [
      {
        id: deriveId('sample', index),
        role: 'opponent',
        policy,
        prompt: [],
        ids: tokenizer.encode(text),
        logprobs: [],
        stopped: true,
        outcome: 'ok',
        rewards: {},
      },
    ],
    judgments: [],
    answersExact: [text.includes('<answer>3<eos>')],
    solutionsExact: [true],
  });
  const groups = [
    group('1+2', '<step>3<answer>3<eos>', 0),
    group('2+1', '<answer>3<eos>', 1),
    group('1+1', '<step>3<answer>4<eos>', 2),
  ];
  return {
    round: {
      id: ID,
      run: ID,
      index: 3,
      settings: {
        recipe: 'spin',
        seed: 0,
        policy: 'p',
        rewardFunction: 'data',
        freeze: [],
        variant: '',
        tasks: 3,
        groupSize: 1,
        ...settings,
      },
      roles: { player: policy, opponent: policy },
    },
    proposals: { round: ID, samples: [], tasks: [] },
    groups,
    recipeState,
    version: 2,
  };
}
const partOf = async (settings: Parameters<typeof records>[0], recipeState?: unknown) =>
  (await planTraining(spin, records(settings, recipeState), tools)).updates[0]!.parts[0]!;

test('pairs of this iteration and the one before; the reference is the opponent; the next round remembers this one', async () => {
  const before = [{ task: '4-1', ids: tokenizer.encode('<answer>5<eos>') }];
  const plan = await planTraining(spin, records({}, before), tools);
  const part = plan.updates[0]!.parts[0]!;
  if (part.kind !== 'preference') throw new Error(part.kind);
  expect(part.pairs.map((pair) => tokenizer.decode(pair.rejected.ids))).toEqual([
    '<answer>3<eos>',
    '<step>3<answer>4<eos>',
    '<answer>5<eos>',
  ]);
  expect(part.reference).toEqual({ set: 'main', version: 2 });
  expect(part.objective).toEqual({ kind: 'spin', lambda: 1 });
  const published = await partOf({ variant: 'published-lambda' });
  expect(published).toMatchObject({ objective: { kind: 'spin', lambda: 0.1 } });
  expect((plan.recipeState as { task: string }[]).map(({ task }) => task)).toEqual(['1+2', '2+1', '1+1']);
  expect(boundVersion({}, 3, 2, new Random('spin'))).toBe(2);
});

test('controls: a coin swaps, more fine-tuning takes every response of the data', async () => {
  const random = await partOf({ rewardFunction: 'random' });
  const straight = await partOf({});
  if (random.kind !== 'preference' || straight.kind !== 'preference') throw new Error(random.kind);
  for (const [i, pair] of random.pairs.entries()) {
    const { chosen, rejected } = straight.pairs[i]!;
    expect([
      { chosen, rejected },
      { chosen: rejected, rejected: chosen },
    ]).toContainEqual(pair);
  }
  const sft = await partOf({ variant: 'sft' });
  expect(sft.kind === 'sft' && sft.items.map(({ ids }) => tokenizer.decode(ids))).toEqual([
    '<step>3<answer>3<eos>',
    '<step>3<answer>3<eos>',
    '<step>2<answer>2<eos>',
  ]);
});
