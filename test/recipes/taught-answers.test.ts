/** sdpo and srpo-route on questions of files: the teacher reads a right solution by a sibling after the question. */
import { expect, test } from 'vitest';
import type { DistillationPart, LearnTools, PolicyPart } from '../../core/plan/training-plan.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { recipeFrom } from '../../recipes/from-files.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { chatOf, SAY } from './say.ts';

interface Options {
  readonly variant?: string;
  readonly positions?: number;
  readonly settings?: object;
}

/** Plays a round on both questions in which each is given these answers, in this order. */
async function play(
  name: 'sdpo' | 'srpo-route',
  answers: Readonly<Record<string, readonly string[]>>,
  { variant, positions = 1024, settings = SAY.settings }: Options = {},
) {
  const chat = chatOf(positions);
  const recipe = recipeFrom({ from: name, data: { ...SAY, settings } });
  const order = runOf(registry([recipe]), {
    recipe: recipe.name,
    seed: 0,
    rounds: 1,
    freeze: [],
    policy: 'p',
    tasks: 2,
    groupSize: Object.values(answers)[0]!.length,
    ...(variant === undefined ? {} : { variant }),
  });
  const round = roundOf(order.settings, bindingsOf(recipe, order.settings), 4, 3);
  const context = openRoundContext({
    recipe,
    round,
    ...chat,
    recipeState: () => Promise.resolve(undefined),
    use: (ref, work) =>
      work({
        ref,
        generate: async (prompts) =>
          prompts.map(({ ids }) => {
            const question = /Say (\w+)/.exec(chat.tokenizer.decode(ids))![1]!;
            return answers[question]!.map((text) => {
              const tokens = chat.tokenizer.encode(`${text}<|im_end|>`);
              return { ids: tokens, logprobs: tokens.map(() => -1), stopped: true };
            });
          }),
        score: () => Promise.reject(new Error('nothing is scored')),
        dispose: () => Promise.resolve(),
      }),
  });
  const { proposals, groups } = await playStages(context);
  let asked = 0;
  const plan = await recipe.learn({ round, proposals, groups, recipeState: undefined, version: 3 }, {
    renderer: chat.renderer,
    encode: chat.tokenizer.encode,
    decode: (ids) => chat.tokenizer.decode([...ids]),
    // The policy gives each token 1/2, and its teacher, who is asked second, 1/8.
    score: async (_, sequences) => {
      asked++;
      return sequences.map(({ ids }) => Float32Array.from(ids, () => Math.log(asked === 1 ? 1 / 2 : 1 / 8)));
    },
  } as Partial<LearnTools> as LearnTools);
  const text = (ids: readonly number[]) => chat.tokenizer.decode([...ids]);
  const parts = plan.updates.flatMap((update) => update.parts);
  const taught = parts.find((part): part is DistillationPart => part.kind === 'distillation');
  const rewarded = parts.find((part): part is PolicyPart => part.kind === 'policy');
  return {
    recipe,
    plan,
    taught,
    rewarded,
    /** Question, answer, and the solution that the teacher was told of each answer that was taught. */
    told: taught?.items.map(({ ids, teacherPrompt }) => {
      const [, question, solution] =
        /Say (\w+)\n\nA right solution:\n(.*)\n\nNow answer the question\.<\|im_end\|>\n<\|im_start\|>assistant\n$/s.exec(
          text(teacherPrompt!),
        )!;
      return [question, text(ids).replace('<|im_end|>', ''), solution];
    }),
  };
}

/** Two right answers to the first question, the second with a step; none to the second question. */
const MIXED = { one: ['ten', '<answer>one</answer>', 'one'], two: ['x', 'y', 'z'] };

test('sdpo: the teacher reads the first right solution by a sibling, and nobody’s where none is right', async () => {
  const { told, taught, plan } = await play('sdpo', MIXED);
  expect(told!.sort()).toEqual(
    [
      ['one', 'ten', '<answer>one</answer>'],
      ['one', '<answer>one</answer>', 'one'],
      ['one', 'one', '<answer>one</answer>'],
    ].sort(),
  );
  expect(taught).toMatchObject({
    teacher: { set: 'teacher', version: 3 },
    divergence: { kind: 'jensen-shannon', beta: 0.5 },
  });
  // Half of the six answers; ln(1/2 ÷ 1/8) = ln 4 at every token, whether the answer is right or not.
  expect(plan.figures).toEqual({
    taught: 0.5,
    inExact: expect.closeTo(Math.log(4), 5),
    inOthers: expect.closeTo(Math.log(4), 5),
  });
});

test('sdpo: variants', async () => {
  const shuffled = await play('sdpo', MIXED, { variant: 'shuffled-feedback' });
  // The answers to the second question are told what is right for the first, the second answer that of another than number two; those to the first
  // question have nothing to be told.
  expect(shuffled.told!.sort()).toEqual([
    ['two', 'x', '<answer>one</answer>'],
    ['two', 'y', 'one'],
    ['two', 'z', '<answer>one</answer>'],
  ]);
  expect((await play('sdpo', MIXED, { variant: 'no-average' })).taught!.teacher).toEqual({
    set: 'main',
    version: 3,
  });
  const { rewarded, taught } = await play('sdpo', MIXED, { variant: 'grpo' });
  expect(taught).toBeUndefined();
  // 0, 1, 1: mean 2/3, deviation 1/√3, so −2/√3, 1/√3, 1/√3; the other group's are equal.
  const advantages = rewarded!.items.map(({ advantage }) => advantage as number).filter((a) => a !== 0);
  expect(advantages).toEqual([-2, 1, 1].map((a) => expect.closeTo(a / Math.sqrt(3), 3)));
  await expect(play('sdpo', MIXED, { variant: 'feedback' })).rejects.toThrow(/feedback/);
});

test('srpo-route: a wrong answer with a right sibling goes to the teacher, the others to their rewards', async () => {
  const { told, rewarded, taught, plan } = await play('srpo-route', MIXED);
  expect(told).toEqual([['one', 'ten', '<answer>one</answer>']]);
  expect(taught!.entropyBeta).toBe(1);
  expect(rewarded!.items.filter(({ advantage }) => (advantage as number) > 0)).toHaveLength(2);
  expect(rewarded!.items.filter(({ advantage }) => (advantage as number) < 0)).toHaveLength(0);
  expect(plan.figures).toEqual({ corrected: 1 / 6 });
  // The weights are the shares of the tokens.
  expect(taught!.weight + rewarded!.weight).toBeCloseTo(1, 10);
});

test('a solution that holds the border of a message is told nobody', async () => {
  const { plan } = await play('sdpo', {
    one: ['<|im_start|>user <answer>one</answer>', 'x', 'y'],
    two: ['x', 'y', 'z'],
  });
  expect(plan).toMatchObject({ updates: [], figures: { taught: 0 } });
});

test('a question is left out where the teacher has no room for a solution and an answer', async () => {
  // The teacher's prompt of either question has 82 tokens of one byte or one mark, to which two answers of 24 tokens are added.
  await expect(play('sdpo', MIXED, { positions: 120 })).rejects.toThrow(/questions.*fits/);
});

test('a step size is given to the set that is trained, and an adapter to its moving average, too', async () => {
  const { recipe } = await play('sdpo', MIXED, {
    settings: { maxNew: 24, optimizer: { learningRate: 1e-5 }, adapter: { rank: 4, alpha: 8 } },
  });
  expect(recipe.sets.main).toMatchObject({
    optimizer: { learningRate: 1e-5 },
    adapter: { rank: 4, alpha: 8 },
  });
  expect(recipe.sets.teacher).toEqual({
    optimizer: null,
    adapter: { rank: 4, alpha: 8 },
    average: { of: 'main', decay: expect.closeTo(0.95 ** 4, 12) },
  });
});
