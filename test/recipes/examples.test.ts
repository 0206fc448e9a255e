/** sft and dpo: what is read from files, which tokens carry the loss, plans worked by hand, and rounds that are trained. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { runInProcess } from '../../local/run/single-process.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { conversationSpans, lastSpan, pairSpans } from '../../protocols/examples/round.ts';
import { dpo, planPairs } from '../../recipes/dpo/recipe.ts';
import { bindingsOf } from '../../recipes/run-order.ts';
import { sft } from '../../recipes/sft/recipe.ts';
import { spinOnConversations } from '../../recipes/spin/conversations.ts';
import { randomTask, runningTotals } from '../../worlds/arithmetic/family.ts';
import { exampleIdentity, readConversations, readPairs } from '../../worlds/file/read-examples.ts';
import { taskSet } from '../../worlds/file/task-set.ts';
import { writeTask } from '../../worlds/questions/task-text.ts';
import { QWEN_TEMPLATE, versionFiles } from '../core/renderer/checkpoints.ts';
import { recordsOf, solved } from './records.ts';

const lines = (rows: readonly unknown[]) =>
  new TextEncoder().encode(
    rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'),
  );
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

describe('files', () => {
  test('conversations come as messages, or as a question and its answer', async () => {
    const read = await readConversations(
      'c.jsonl',
      lines([
        { messages: [user('a'), assistant('b'), user('c'), assistant('d')] },
        { question: 'e', answer: 'f' },
        { prompt: [user('g')], completion: [assistant('h')] },
      ]),
      'be brief',
    );
    expect(read.map(({ messages, answer }) => [messages.map(({ content }) => content), answer])).toEqual([
      [['be brief', 'a', 'b', 'c'], 'd'],
      [['be brief', 'e'], 'f'],
      [['be brief', 'g'], 'h'],
    ]);
  });

  test('every line that is wrong is told by its number', async () => {
    const wrong = lines([
      { messages: [user('a')] },
      '{',
      { question: 'a' },
      { messages: [{ role: 'robot', content: 'a' }] },
      { question: 'a', answer: ' ' },
    ]);
    // Three are told; the last two alone are told when the others are mended.
    await expect(readConversations('c.jsonl', wrong)).rejects.toThrow(
      /5 lines of c\.jsonl cannot be used: line 1: its last message is the user’s.*line 2: it is not JSON.*line 3: it has no "completion" or "answer" or "output" or "response"; its fields are question; and 2 more\. Expected \{"messages"/,
    );
    const mended = lines([
      { question: 'a', answer: 'b' },
      { messages: [{ role: 'robot', content: 'a' }] },
      { question: 'a', answer: ' ' },
    ]);
    await expect(readConversations('c.jsonl', mended)).rejects.toThrow(
      /2 lines of c\.jsonl cannot be used: line 2: its messages: 0\.role.*line 3: its answer is no text\. Expected/,
    );
    const pairs = lines([
      { question: 'a', chosen: 'b' },
      { question: 'a', chosen: 'b', rejected: 'b' },
      { chosen: 'b', rejected: 'c' },
    ]);
    await expect(readPairs('p.jsonl', pairs)).rejects.toThrow(
      /line 1: it has no "rejected".*line 2: its chosen and its rejected answer are the same; line 3: it has no "messages" or .*"prompt" or "question"/,
    );
  });

  test('several pairs of one question are kept and stay on one side of the split', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => ({
      question: `q${i % 20}`,
      chosen: `c${i}`,
      rejected: 'r',
    }));
    const tasks = await readPairs('p.jsonl', lines([...rows, rows[0]]));
    const { sources, heldOut, report } = taskSet([{ tasks, weight: 1 }], { share: 0.3 }, exampleIdentity);
    expect(report.duplicates).toHaveLength(1);
    const [training, held] = [sources[0]!.tasks, heldOut].map(
      (side) => new Set(side.map(({ messages }) => messages[0]!.content)),
    );
    expect(training!.size + held!.size).toBe(20);
    expect(sources[0]!.tasks.length + heldOut.length).toBe(60);
  });
});

describe('tokens', () => {
  const chat = textOf(
    versionFiles(
      { eos_token: '<|im_end|>', chat_template: QWEN_TEMPLATE },
      { config: { max_position_embeddings: 256 } },
    ),
    'chat',
  );
  const [renderer, tokenizer] = [chat.renderer(), chat.tokenizer];
  const text = (ids: readonly number[]) => tokenizer.decode([...ids]);

  test('every answer of the assistant carries loss, its end included, and nothing else does', async () => {
    const [task] = await readConversations(
      'c.jsonl',
      lines([{ messages: [user('a'), assistant('bc'), user('d'), assistant('e')] }]),
    );
    const spans = conversationSpans(renderer, task!);
    expect(spans.map(({ ids }) => text(ids))).toEqual(['bc<|im_end|>', 'e<|im_end|>']);
    expect(text(spans[1]!.prompt)).toContain('bc<|im_end|>');
    expect(text(spans[1]!.prompt)).toMatch(/<\|im_start\|>assistant\n$/);
  });

  test('the two answers of a pair have one prompt', async () => {
    const [task] = await readPairs('p.jsonl', lines([{ question: 'a', chosen: 'yes', rejected: 'no' }]));
    const [chosen, rejected] = pairSpans(renderer, task!);
    expect(chosen.prompt).toEqual(rejected.prompt);
    expect([chosen, rejected].map(({ ids }) => text(ids))).toEqual(['yes<|im_end|>', 'no<|im_end|>']);
  });
});

test('an opponent of spin answers the prompt of the data, and nothing that does not fit', async () => {
  const chat = textOf(
    versionFiles(
      { eos_token: '<|im_end|>', chat_template: QWEN_TEMPLATE },
      { config: { max_position_embeddings: 160 } },
    ),
    'chat',
  );
  const rows = ['short', 'x'.repeat(60)].map((question) => ({ question, answer: 'yes' }));
  const tasks = await readConversations('c.jsonl', lines(rows));
  const recipe = spinOnConversations.make({
    name: 'c',
    start: 's',
    sources: [{ weight: 1, tasks }],
    heldOut: tasks,
    settings: { maxNew: 24 },
  });
  const asked: number[][] = [];
  const id = 'a'.repeat(32);
  const context = {
    ...chat,
    round: { id, roles: { opponent: { name: 'p', version: 3 } } },
    generate: async (_: string, prompts: readonly { ids: readonly number[] }[]) => {
      asked.push(...prompts.map(({ ids }) => [...ids]));
      return prompts.map(() => [
        { ids: chat.tokenizer.encode('no<|im_end|>'), logprobs: [0], stopped: true },
      ]);
    },
  } as unknown as Parameters<typeof recipe.rollOut>[0];
  const admitted = tasks.map((task, index) => ({
    group: `g${index}`,
    index,
    task: writeTask(task),
    proposal: null,
  }));
  const groups = await recipe.rollOut(context, admitted);
  const { prompt } = lastSpan(chat.renderer(), tasks[0]!);
  expect(asked).toEqual([prompt]);
  expect(groups.map(({ samples }) => samples.length)).toEqual([1, 0]);
  expect(groups[0]!.samples[0]).toMatchObject({ role: 'opponent', policy: { version: 3 }, outcome: 'ok' });

  // What the files say is preferred to what the opponent said; the group without an answer makes no pair, and is counted.
  const round = { id, settings: { rewardFunction: 'data' }, roles: { opponent: { name: 'p', version: 3 } } };
  const records = { round, groups, recipeState: undefined } as unknown as Parameters<typeof recipe.learn>[0];
  const tools = { renderer: chat.renderer } as unknown as LearnTools;
  const { updates, figures } = await recipe.learn(records, tools);
  expect(figures).toEqual({ pairs: 1, tooLong: 1 });
  expect(updates[0]!.parts[0]).toMatchObject({
    objective: { kind: 'spin', lambda: 0.1 },
    reference: { version: 3 },
    pairs: [
      {
        chosen: { prompt, ids: chat.tokenizer.encode('yes<|im_end|>') },
        rejected: { prompt, ids: chat.tokenizer.encode('no<|im_end|>') },
      },
    ],
  });
});

describe('plans', () => {
  const settings = {
    epochs: 1,
    examined: 1,
    optimizer: {},
    gamma: 1,
    lambda: 0.1,
    desirable: 1,
    undesirable: 1,
  };
  const pairs = [
    { samples: [solved('11', 1), solved('2', 0)] },
    { samples: [solved('3', 1), solved('444', 0)] },
  ];
  /** Every token has log-probability −1 under the policy and −1.5 under version 0. */
  const score: LearnTools['score'] = async (_, sequences, version) =>
    sequences.map(({ ids }) => new Float32Array(ids.length).fill(version === 0 ? -1.5 : -1));
  const part = async (variant?: string, change: object = {}) => {
    const { updates, figures } = await planPairs(
      recordsOf('dpo', pairs, variant === undefined ? {} : { variant }),
      { score },
      { ...settings, ...change } as Parameters<typeof planPairs>[2],
    );
    return { part: updates[0]!.parts[0]!, figures };
  };

  test('each variant has its objective, and KTO the mean log-ratio of mismatched answers', async () => {
    expect((await part()).part).toMatchObject({ objective: { kind: 'dpo', beta: 0.1 }, sft: 0 });
    expect((await part('ipo')).part).toMatchObject({ objective: { kind: 'ipo', tau: 0.1 } });
    expect((await part('simpo')).part).toMatchObject({ objective: { kind: 'simpo', beta: 2, gamma: 1 } });
    expect((await part('orpo')).part).toMatchObject({ objective: { kind: 'orpo', lambda: 0.1 }, sft: 1 });
    // Lengths 2, 1, 1 and 3: half a nat for each token, over four answers.
    const kto = await part('kto', { beta: 0.5 });
    expect(kto.part).toMatchObject({ objective: { kind: 'kto', beta: 0.5, baseline: (0.5 * 7) / 4 } });
    expect(kto.figures).toMatchObject({ baseline: 0.875, tooLong: 0 });
    await expect(part('dppo')).rejects.toThrow(/no variant "dppo"\. Expected one of ipo, kto, simpo, orpo/);
  });

  test('a pair with an answer that is too long is left out whole, and counted', async () => {
    const long = { ...solved('5', 0), outcome: 'too-long' as const };
    const records = recordsOf('dpo', [...pairs, { samples: [solved('5', 1), long] }]);
    const { updates, figures } = await planPairs(
      records,
      { score },
      settings as unknown as Parameters<typeof planPairs>[2],
    );
    expect(updates[0]!.parts[0]).toMatchObject({ pairs: { length: 2 } });
    expect(figures).toEqual({ tooLong: 1 });
  });
});

describe('rounds', () => {
  const trainer = new RoundTrainer();
  let start: VersionFiles;
  beforeAll(async () => {
    await openDevice({ device: 'cpu', threads: 1 });
    start = await readPolicyFolder('models/arithmetic-base');
  });
  afterAll(() => trainer.dispose());

  const random = new Random('examples');
  const sums = Array.from({ length: 60 }, () => {
    const task = randomTask(random, 2);
    return { task, answer: runningTotals(task).at(-1)! };
  });

  async function play(recipe: Recipe, variant?: string, rounds = 2, rewardFunction = 'none') {
    const store = new MemoryRunStore();
    await store.commitVersion({ name: 'p', version: 0 }, start);
    const policies = new OpenPolicies(nodeEngines, (ref) => store.loadVersion(ref));
    const settings = {
      recipe: recipe.name,
      seed: 0,
      policy: 'p',
      rewardFunction,
      freeze: [],
      tasks: 12,
      groupSize: 1,
      ...(variant === undefined ? {} : { variant }),
    };
    const summary = await runInProcess({
      recipe,
      settings,
      rounds,
      evaluateEvery: rounds,
      store,
      trainer,
      ...textOf(start, 'p'),
      use: policies.use,
      roles: bindingsOf(recipe, settings),
    });
    await policies.dispose();
    return {
      summary,
      weights: (await store.loadVersion({ name: 'p', version: rounds }))['model.safetensors']!,
    };
  }

  test('sft makes held-out answers likelier, again to the same bytes', async () => {
    // One answer to every question: what is learned on some holds for the others.
    const rows = sums.map(({ task }) => ({ question: task, answer: '<answer>0' }));
    const tasks = await readConversations('sums.jsonl', lines(rows));
    const { sources, heldOut } = taskSet([{ tasks, weight: 1 }], { share: 0.2 }, exampleIdentity);
    const data = {
      name: 'sums',
      start: 'arithmetic-base',
      sources,
      heldOut,
      settings: { optimizer: { learningRate: 1e-4, warmup: 1 } },
    };
    const { summary, weights } = await play(sft.make(data), undefined, 3);
    const [before, after] = [summary.heldout[0]!, summary.heldout.at(-1)!];
    expect(after.accuracy).toBeGreaterThan(before.accuracy);
    expect((await play(sft.make(data), undefined, 3)).weights).toEqual(weights);
    expect(sft.make(data).name).toMatch(/^sft-[0-9a-f]{10}$/);
    expect(() => sft.make({ ...data, settings: { optimizer: { schedule: 'cosine' } } })).toThrow(
      /no optimizer\.totalSteps/,
    );
  });

  test('spin makes the data’s answers likelier than those of its opponents', async () => {
    const rows = sums.map(({ task }) => ({ question: task, answer: '<answer>0' }));
    const tasks = await readConversations('sums.jsonl', lines(rows));
    const { sources, heldOut } = taskSet([{ tasks, weight: 1 }], { share: 0.2 }, exampleIdentity);
    const recipe = spinOnConversations.make({
      name: 'sums',
      start: 'arithmetic-base',
      sources,
      heldOut,
      settings: { maxNew: 26, lambda: 1, optimizer: { learningRate: 1e-4, warmup: 1 } },
    });
    expect(recipe.name).toMatch(/^spin-[0-9a-f]{10}$/);
    const { summary } = await play(recipe, undefined, 2, 'data');
    expect(summary.heldout.at(-1)!.accuracy).toBeGreaterThan(summary.heldout[0]!.accuracy);
  });

  test('every preference loss prefers the chosen answers more than before', async () => {
    const rows = sums.map(({ task, answer }) => ({
      question: task,
      chosen: `<answer>${answer}`,
      rejected: `<answer>${answer + 1}`,
    }));
    const tasks = await readPairs('pairs.jsonl', lines(rows));
    const { sources, heldOut } = taskSet([{ tasks, weight: 1 }], { share: 0.2 }, exampleIdentity);
    const data = {
      name: 'pairs',
      start: 'arithmetic-base',
      sources,
      heldOut,
      settings: { optimizer: { learningRate: 3e-4, warmup: 1 } },
    };
    for (const variant of [undefined, 'ipo', 'kto', 'simpo', 'orpo']) {
      const { summary } = await play(dpo.make(data), variant);
      const margin = (at: number) => summary.heldout.at(at)!.figures?.margin ?? Number.NaN;
      expect(margin(-1), variant ?? 'dpo').toBeGreaterThan(margin(0));
    }
  });
});
