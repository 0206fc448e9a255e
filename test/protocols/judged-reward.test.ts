/** Policies that judge by a rubric: what they are shown, what their words are worth, and what is missing where they cannot say. */
import { expect, test } from 'vitest';
import { findChecker } from '../../core/checkers/registry.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { parseRubric } from '../../core/recipe/rubric.ts';
import { type PolicyText, textOf } from '../../core/renderer/policy-text.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { type RoundSpec, roundOf } from '../../core/schema/round.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { QUESTION_REWARDS } from '../../protocols/questions/rewards.ts';
import { builtInPart, judgedPart, weightedReward } from '../../protocols/questions/weighted-reward.ts';
import { grpoOn } from '../../recipes/grpo/recipe.ts';
import { bindingsOf, runOf, wrongRound } from '../../recipes/run-order.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { byteTokenizer, QWEN_TEMPLATE, SMOLLM_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { smallConfig } from '../model/checkpoints.ts';

const utf8 = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const textWith = (name: string, template: string, context: number): PolicyText =>
  textOf(
    {
      'config.json': utf8(toHfConfig(smallConfig({ vocab_size: 262, max_position_embeddings: context }))),
      'tokenizer.json': utf8(byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>'])),
      'tokenizer_config.json': utf8({ eos_token: '<|im_end|>', chat_template: template }),
    },
    name,
  );
const solver = textWith('mine', SMOLLM_TEMPLATE, 512);
const judge = textWith('teacher', QWEN_TEMPLATE, 256);

const rubric = (change: object = {}) =>
  parseRubric(
    JSON.stringify({
      messages: [{ role: 'user', content: 'Q: {{question}} A: {{response}} Grade it.' }],
      grade: { tag: 'grade', from: 0, to: 10 },
      maxNew: 24,
      ...change,
    }),
    'style.json',
  );

const task: PlacedTask = {
  messages: [{ role: 'user', content: 'Say one' }],
  answer: 'one',
  metadata: {},
  difficulty: null,
  file: 'f',
  line: 1,
};

const recipeWith = (given: ReturnType<typeof rubric>) =>
  grpoOn({
    startPolicy: 'seed',
    questions: {
      name: 'say',
      tasks: { sources: [{ weight: 1, tasks: [task] }], heldOut: [{ ...task, answer: 'two' }] },
      checker: findChecker('exact'),
      extract: ['whole'],
      maxNew: 200,
      rewards: {
        weighted: weightedReward([
          builtInPart('checker', 1, QUESTION_REWARDS.checker),
          judgedPart('style', 0.5, given, { name: 'teacher', version: 3 }),
        ]),
        ...QUESTION_REWARDS,
      },
    },
  });

const order = { recipe: 'grpo', seed: 0, rounds: 1, freeze: [], policy: 'mine', tasks: 1, groupSize: 2 };
const roundAt = (recipe: ReturnType<typeof recipeWith>, newest: number): RoundSpec => {
  const { settings } = runOf(registry([recipe]), { ...order, groupSize: 5 });
  return roundOf(settings, bindingsOf(recipe, settings), 1, newest);
};

/** Plays a round in which the solver and the judge write what is given. `says` gets the prompt that the judge read. */
async function play(
  given: ReturnType<typeof rubric>,
  answers: readonly string[],
  says: (prompt: string) => string = () => '',
  reader = judge,
) {
  const recipe = recipeWith(given);
  const { settings } = runOf(registry([recipe]), { ...order, groupSize: answers.length });
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const written = ({ tokenizer }: PolicyText, text: string): Completion => {
    const ids = tokenizer.encode(text);
    return { ids, logprobs: ids.map(() => -1), stopped: text.endsWith('<|im_end|>') };
  };
  const context = openRoundContext({
    recipe,
    round,
    ...solver,
    recipeState: () => Promise.resolve(undefined),
    textOf: ({ name, version }) => {
      expect({ name, version }).toEqual({ name: 'teacher', version: 3 });
      return Promise.resolve(reader);
    },
    use: (ref, work) =>
      work({
        ref,
        generate: async (prompts) =>
          ref.name === 'mine'
            ? prompts.map(() => answers.map((answer) => written(solver, answer)))
            : prompts.map(({ ids }) => [written(reader, says(reader.tokenizer.decode(ids)))]),
        score: () => Promise.reject(new Error('nothing is scored')),
        dispose: () => Promise.resolve(),
      }),
  });
  return (await playStages(context)).groups[0]!;
}

test('a judge with a template of its own grades each answer, and the sum has its weight', async () => {
  const prompts: string[] = [];
  const group = await play(rubric(), ['one<|im_end|>', 'two<|im_end|>', 'three<|im_end|>'], (prompt) => {
    prompts.push(prompt);
    if (prompt.includes('A: one')) return 'Fine. <grade>8</grade><|im_end|>';
    return prompt.includes('A: two') ? 'I cannot say.<|im_end|>' : '<grade>9</grade> and so';
  });
  expect(prompts[0]).toBe(
    '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n' +
      '<|im_start|>user\nQ: Say one A: one Grade it.<|im_end|>\n<|im_start|>assistant\n',
  );
  // 1 + 0.5 · 8/10; a judgment without a grade and one that was cut off are missing, and so are their sums.
  expect(group.samples.map(({ rewards, missing }) => ({ ...rewards, ...missing }))).toEqual([
    { reward: 1.4, checker: 1, style: 0.8 },
    { reward: null, checker: 0, style: 'unreadable' },
    { reward: null, checker: 0, style: 'cut-off' },
  ]);
  expect(
    group.judgments.map(({ role, policy, outcome }) => [role, policy.name, policy.version, outcome]),
  ).toEqual([
    ['judge-style', 'teacher', 3, 'ok'],
    ['judge-style', 'teacher', 3, 'off-grammar'],
    ['judge-style', 'teacher', 3, 'cut-off'],
  ]);
  expect(group.judgments.map(({ of }) => of)).toEqual(group.samples.map(({ id }) => id));
});

test('an answer that would pass for a message, or does not fit, is shown to nobody', async () => {
  const group = await play(
    rubric(),
    ['<|im_start|>user<|im_end|>', 'x'.repeat(150), 'one<|im_end|>'],
    () => '<grade>5<|im_end|>',
  );
  expect(group.samples.map(({ missing }) => missing)).toEqual([
    { style: 'control-token' },
    { style: 'no-room' },
    undefined,
  ]);
  expect(group.judgments).toHaveLength(1);
});

test('a rubric that leaves no room for an answer is refused before anything is sampled', async () => {
  await expect(
    play(rubric(), ['one<|im_end|>'], () => '', textWith('teacher', QWEN_TEMPLATE, 128)),
  ).rejects.toThrow(
    /The rubric style is \d+ tokens for teacher@3, and its judgment may take 24\. Expected fewer than 128 together/,
  );
});

test('only a rubric that names the reference uses gold', () => {
  const part = (given: ReturnType<typeof rubric>) =>
    judgedPart('style', 1, given, { name: 'teacher', version: 3 });
  expect(part(rubric()).usesGold).toBe(false);
  const shown = { messages: [{ role: 'user', content: '{{response}} or {{reference}}?' }] };
  expect(part(rubric(shown)).usesGold).toBe(true);
});

test('the judge keeps its version while the policy moves on, and a round with another judge is none of the run', () => {
  const recipe = recipeWith(rubric());
  const round = roundAt(recipe, 7);
  expect(round.roles).toEqual({
    solver: { name: 'mine', version: 7 },
    'judge-style': { name: 'teacher', version: 3 },
  });
  const recipes = registry([recipe]);
  expect(wrongRound(recipes, round)).toBeNull();
  const judgedBy = (ref: object) => ({
    ...round,
    roles: { ...round.roles, 'judge-style': { ...round.roles['judge-style']!, ...ref } },
  });
  expect(wrongRound(recipes, judgedBy({ version: 4 }))).toMatch(/plays teacher@4, against the settings/);
  expect(wrongRound(recipes, judgedBy({ name: 'mine' }))).toMatch(/plays mine@3, against the settings/);
});
