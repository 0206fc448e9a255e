/** Rounds whose policy uses a tool of the mesh: what it reads, what is paid, what limits say, and what an audit finds. */
import { expect, test } from 'vitest';
import { rereadRound } from '../../core/audit/audit-round.ts';
import { AuditLedger } from '../../core/audit/findings.ts';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import type { Completion, GeneratePrompt } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openEvaluationContext, openRoundContext } from '../../core/recipe/round-context.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { fromEpisodes } from '../../recipes/from-files.ts';
import { grpo } from '../../recipes/grpo/recipe.ts';
import { bindingsOf } from '../../recipes/run-order.ts';
import { byteTokenizer, QWEN_TEMPLATE, SMOLLM_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { smallConfig } from '../model/checkpoints.ts';

const utf8 = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const speaks = (chat_template: string) =>
  textOf(
    {
      'config.json': utf8(toHfConfig(smallConfig({ vocab_size: 262, max_position_embeddings: 8192 }))),
      'tokenizer.json': utf8(byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>'])),
      'tokenizer_config.json': utf8({ eos_token: '<|im_end|>', chat_template }),
    },
    'mine',
  );
const text = speaks(QWEN_TEMPLATE);
const END = text.renderer().stops[0]!;

const task = (i: number) => ({
  file: 'a.jsonl',
  line: i + 1,
  messages: [{ role: 'user', content: `What is ${i} * 7?` }],
  answer: `${7 * i}`,
  metadata: {},
  difficulty: null,
});
const data = {
  name: 'a.jsonl',
  start: 'arithmetic-base',
  checker: 'number',
  extract: ['whole'],
  sources: [{ weight: 1, tasks: [task(6)] }],
  heldOut: [task(9), task(10)],
  tools: ['run_javascript'],
};
const recipe = grpo.make({ ...data, settings: { maxNew: 400, toolTurns: 3 } });

const called = (code: string, name = 'run_javascript') =>
  `<tool_call>\n${JSON.stringify({ name, arguments: { code } })}\n</tool_call>`;

/** Each rollout of a group by what it writes, turn by turn. */
const SCRIPTS: readonly (readonly string[])[] = [
  [called('6 * 7'), '42'],
  [called('6 * 8'), '48'],
  ['42'],
  [called('for (;;);'), called('"<" + "|im_end|>"'), called('1')],
];

async function played(recipe: Recipe, spoken = text, scripts = SCRIPTS) {
  const settings = {
    recipe: recipe.name,
    seed: 0,
    policy: 'mine',
    rewardFunction: 'checker',
    freeze: [],
    tasks: 1,
    groupSize: 4,
  };
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const prompts: string[] = [];
  const answer = ({ ids }: GeneratePrompt, s: number): Completion => {
    const prompt = spoken.tokenizer.decode(ids);
    // Which turn it is, the prompt says; which episode, what stands in it or else the sample's place.
    const turn = prompt.split('<tool_response>').length - 1;
    const script = turn ? scripts.find(([first]) => prompt.includes(first!))! : scripts[s]!;
    if (turn) prompts.push(prompt);
    const own = [...spoken.tokenizer.encode(script[turn]!), END];
    return { ids: own, logprobs: own.map(() => -1), stopped: true };
  };
  const parts = {
    recipe,
    round,
    ...spoken,
    textOf: async () => spoken,
    recipeState: async () => undefined,
    use: async (ref: object, work: (policy: never) => Promise<unknown>) =>
      work({
        ref,
        generate: async (asked: GeneratePrompt[]) =>
          asked.map((prompt) => prompt.sampleIds.map((_, s) => answer(prompt, s))),
        score: () => Promise.reject(new Error('nobody scores')),
        dispose: async () => {},
      } as never),
  } as never as Parameters<typeof openRoundContext>[0];
  const context = openRoundContext(parts);
  const proposals = await recipe.propose(context);
  const groups = await recipe.judge(context, await recipe.rollOut(context, proposals.tasks));
  return { round, proposals, group: groups[0]! as ScoredGroup, prompts, parts };
}

test('a policy reads what its program came to, and the checker pays what it answers then on all turns', async () => {
  const { group, prompts } = await played(recipe);
  expect(group.samples.map(({ turn, rewards }) => [turn, rewards.reward])).toEqual([
    [0, 1],
    [1, 1],
    [0, 0],
    [1, 0],
    [0, 1],
    // It called to the end, and has no answer.
    [0, 0],
    [1, 0],
    [2, 0],
  ]);
  const read = (n: number) =>
    prompts[n]!.match(/<tool_response>\n(.*)\n<\/tool_response>(?!.*<tool_response>)/s)?.[1];
  expect(read(0)).toBe('42');
  expect(prompts.some((prompt) => prompt.includes('too many steps'))).toBe(true);
  expect(prompts.some((prompt) => prompt.includes('a token that separates messages'))).toBe(true);
  // The prompt of a second turn begins with the very tokens of the first one and its answer.
  const [first, second] = group.samples;
  expect(second!.prompt.slice(0, first!.prompt.length + first!.ids.length)).toEqual([
    ...first!.prompt,
    ...first!.ids,
  ]);
});

test('an audit runs the programs again, and finds a result that no program gave', async () => {
  const { round, proposals, group } = await played(recipe);
  const audit = async (change: (group: ScoredGroup) => void) => {
    const forged = structuredClone(group);
    change(forged);
    const ledger = new AuditLedger();
    const tools = {
      ...text,
      textOf: async () => text,
      use: () => Promise.reject(new Error('no model')),
      recipeState: async () => undefined,
    };
    await rereadRound(ledger, { recipe, round, proposals, groups: [forged] }, tools);
    return ledger.findings.map((finding) => finding.class);
  };
  expect(await audit(() => {})).toEqual([]);
  const forged = await audit(({ samples: [, second] }) => void second!.prompt.splice(-20, 1));
  expect(forged).toContain('prompt');
});

test('other recipes train on such episodes, and the evaluation plays them, too', async () => {
  const recipe = fromEpisodes('dapo').make({ ...data, settings: { maxNew: 400 } });
  const { round, proposals, group, parts } = await played(recipe, text, [...SCRIPTS.slice(0, 3), ['42']]);
  const plan = await recipe.learn(
    { round, proposals, groups: [group], recipeState: undefined, version: 0 },
    {} as never,
  );
  const { items } = plan.updates[0]!.parts[0] as PolicyPart;
  // Three of four right: 0.25/σ for them and −0.75/σ for the wrong one, which has two turns, σ = 0.5.
  expect(items.map(({ advantage }) => Math.round(100 * (advantage as number)))).toEqual([
    50, 50, -150, -150, 50, 50,
  ]);
  const context = openEvaluationContext(parts as never, 0, new Map());
  const { heldOut, figures } = await recipe.evaluate(context);
  // The scripts say 42 or 48 of 9 · 7 and 10 · 7.
  expect([heldOut.n, heldOut.accuracy, figures!['turns']]).toEqual([2, 0, 2]);
});

test('a policy whose template knows no tools is refused before it is asked anything', async () => {
  const plain = speaks(SMOLLM_TEMPLATE);
  await expect(played(recipe, plain)).rejects.toMatchObject({ code: 'serving.tools' });
  expect(() => grpo.make({ ...data, tools: undefined, settings: { toolTurns: 3 } })).toThrow();
});
