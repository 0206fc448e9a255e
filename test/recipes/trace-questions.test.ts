/** trace on questions of files: the policy marks the first wrong line of its attempts itself, and teaches there. */
import { expect, test } from 'vitest';
import type { DistillationPart, LearnTools } from '../../core/plan/training-plan.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { recipeFrom } from '../../recipes/from-files.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { chatOf, SAY, sayTask } from './say.ts';

const SOLUTION = 'It is the first number.\nThat is one.';
const recipe = recipeFrom({
  from: 'trace',
  data: {
    ...SAY,
    sources: [{ weight: 1, tasks: [{ ...sayTask('Say one', 'one', 1), solution: SOLUTION }] }],
  },
});
const chat = chatOf(4096);
const { decode, encode } = chat.tokenizer;

/** Attempts in the order in which they are written, each with what the critic writes of it. */
const CRITIQUES = {
  'We start.\nWe count.\n<answer>one</answer>': 'Nobody asks.',
  'We start.\n\nWe fly.\n<answer>two</answer>': 'We start.\nWe count.',
  'We start.\nWe sing.\n<answer>six</answer>': 'We start.\nWe sing.\n<answer>six</answer>',
} as const;
const ATTEMPTS = Object.keys(CRITIQUES) as (keyof typeof CRITIQUES)[];

async function play(variant?: string) {
  const { settings } = runOf(registry([recipe]), {
    recipe: recipe.name,
    seed: 0,
    rounds: 1,
    freeze: [],
    policy: 'p',
    tasks: 1,
    groupSize: ATTEMPTS.length,
    ...(variant === undefined ? {} : { variant }),
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), 4, 3);
  const written = (text: string): Completion => {
    const ids = encode(`${text}<|im_end|>`);
    return { ids, logprobs: ids.map(() => -1), stopped: true };
  };
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
            const prompt = decode(ids);
            if (!prompt.includes('An attempt:')) return ATTEMPTS.map(written);
            expect(prompt).toContain(SOLUTION);
            return [written(CRITIQUES[ATTEMPTS.find((attempt) => prompt.includes(attempt))!])];
          }),
        score: () => Promise.reject(new Error('nothing is scored')),
        dispose: () => Promise.resolve(),
      }),
  });
  const { proposals, groups } = await playStages(context);
  const tools = { decode, encode, renderer: chat.renderer } as unknown as LearnTools;
  const plan = await recipe.learn({ round, proposals, groups, recipeState: undefined, version: 3 }, tools);
  const parts = plan.updates[0]!.parts.filter(
    (part): part is DistillationPart => part.kind === 'distillation',
  );
  const [decisive, faulty] = ['forward-kl', 'reverse-kl'].map((kind) =>
    parts
      .filter(({ divergence }) => divergence.kind === kind)
      .flatMap(({ items }) =>
        items.map(({ ids, weights, teacherPrompt }) => ({
          marked: decode(ids.filter((_, t) => weights![t]! > 0)),
          told: decode(teacherPrompt!),
        })),
      ),
  );
  return { group: groups[0]!, decisive, faulty };
}

test('the critic reads wrong attempts alone, and the line that it corrects is marked in right ones, too', async () => {
  const { group, decisive, faulty } = await play();
  expect(group.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, 0]);
  expect(group.judgments.map(({ role, of }) => [role, of])).toEqual(
    [1, 2].map((s) => ['critic', group.samples[s]!.id]),
  );
  // An empty line is part of the line behind it.
  expect(faulty).toEqual([{ marked: '\nWe fly.\n', told: expect.stringContaining('We start.\nWe count.') }]);
  expect(decisive).toEqual([{ marked: 'We count.\n', told: expect.stringContaining(SOLUTION) }]);
});

test('nobody is asked to criticise where no teacher is heard', async () => {
  const { group, decisive, faulty } = await play('grpo');
  expect(group.judgments).toEqual([]);
  expect([decisive, faulty]).toEqual([[], []]);
});
