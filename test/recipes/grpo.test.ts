import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { extractAnswer } from '../../core/checkers/extract.ts';
import { findChecker } from '../../core/checkers/registry.ts';
import type { LearnTools, PolicyPart, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { MemoryRunStore } from '../../local/run/run-store.ts';
import { type InProcessRun, runInProcess } from '../../local/run/single-process.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { QUESTION_REWARDS } from '../../protocols/questions/rewards.ts';
import type { Questions } from '../../protocols/questions/round.ts';
import { methodOf, planTraining } from '../../recipes/grpo/plan.ts';
import { grpoOn } from '../../recipes/grpo/recipe.ts';
import { VARIANTS } from '../../recipes/grpo/variants.ts';
import { bindingsOf } from '../../recipes/run-order.ts';
import { randomTask, runningTotals } from '../../worlds/arithmetic/family.ts';
import { readTasks } from '../../worlds/file/read-tasks.ts';
import { tasksHere } from '../../worlds/file/stored-tasks.ts';
import { taskSet } from '../../worlds/file/task-set.ts';
import { readTask } from '../../worlds/questions/task-text.ts';
import { byteTokenizer, SMOLLM_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import { recordsOf, solved } from './records.ts';

const noValues: Pick<LearnTools, 'values'> = { values: () => Promise.reject(new Error('no critic here')) };
const policyPart = ({ updates }: TrainingPlan): PolicyPart => {
  const part = updates.at(-1)!.parts[0]!;
  if (part.kind !== 'policy') throw new Error('the last update is the policy’s');
  return part;
};
const advantagesOf = (plan: TrainingPlan) => policyPart(plan).items.map(({ advantage }) => advantage);

describe('training plans', () => {
  // Two groups: rewards 1, 0, 0 and 1, 1. Texts of 3, 2 and 1 characters.
  const groups = () => [
    { group: 'a', samples: [solved('123', 1), solved('12', 0), solved('1', 0)] },
    { group: 'b', samples: [solved('1', 1), solved('12', 1)] },
  ];
  const plan = (variant?: string, tools = noValues) =>
    planTraining(recordsOf('grpo', groups()), tools, methodOf(variant), { maxNew: 10 });
  const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 4));

  test('advantages by sample, worked by hand', async () => {
    // Mean 1/3, deviation √(1/3) with ddof 1: (2/3)/0.57735 and (−1/3)/0.57735; a unanimous group has nothing to say.
    expect(advantagesOf(await plan())).toEqual(close([1.1547, -0.57735, -0.57735, 0, 0]));
    expect(advantagesOf(await plan('dr-grpo'))).toEqual(close([2 / 3, -1 / 3, -1 / 3, 0, 0]));
    expect(advantagesOf(await plan('rloo'))).toEqual(close([1, -1 / 2, -1 / 2, 0, 0]));
    expect(advantagesOf(await plan('maxrl'))).toEqual(close([2, -1, -1, 0, 0]));
    expect(advantagesOf(await plan('reinforce'))).toEqual([1, 0, 0, 1, 1]);
    // Centred 2/3, −1/3, −1/3, 0, 0: their deviation with ddof 0 is √(2/15).
    const spread = Math.sqrt(2 / 15);
    expect(advantagesOf(await plan('batch-scaled'))).toEqual(
      close([2 / 3 / spread, -1 / 3 / spread, -1 / 3 / spread, 0, 0]),
    );
    expect(policyPart(await plan('dr-grpo')).aggregation).toEqual({ mode: 'seq-sum-constant', length: 10 });
    expect(policyPart(await plan('kl')).kl).toMatchObject({ weight: 0.04, reference: { version: 0 } });
    expect((await plan()).figures).toEqual({ unanimous: 0.5, tokens: 9 / 5 });
  });

  test('REINFORCE++ whitens the returns of all tokens', async () => {
    // Tokens 1 1 1, 0 0, 0, 1, 1 1: mean 6/9, variance 9·(6/9)(3/9)/8 = 1/4.
    const [one, nothing] = [(1 - 2 / 3) / 0.5, (0 - 2 / 3) / 0.5];
    expect(advantagesOf(await plan('reinforce-plus-plus'))).toEqual([
      close([one, one, one]),
      close([nothing, nothing]),
      close([nothing]),
      close([one]),
      close([one, one]),
    ]);
  });

  test('PPO asks its critic, and fits it to the returns', async () => {
    const asked: number[][] = [];
    const values: LearnTools['values'] = async (set, sequences) => {
      expect(set).toBe('critic');
      asked.push(...sequences.map(({ ids }) => [...ids]));
      // The critic says one half everywhere.
      return sequences.map(({ ids }) => new Float32Array(ids.length).fill(0.5));
    };
    const { updates } = await plan('ppo', { values });
    expect(asked).toHaveLength(5);
    expect(updates.map(({ set }) => set)).toEqual(['critic', 'main']);
    const [value] = updates[0]!.parts;
    // γ = 1, λ = 0.95, δ = 0 before the last token and ±½ on it: advantages ½·0.95², ½·0.95, ½; returns are ½ more.
    const targets = value!.kind === 'value' ? value!.items.map((item) => item.targets) : [];
    expect(targets[0]).toEqual(close([0.5 + 0.45125, 0.5 + 0.475, 1]));
    expect(targets[1]).toEqual(close([0.5 - 0.475, 0]));
    const flat = advantagesOf({ updates }).flat() as number[];
    expect(flat.reduce((sum, x) => sum + x, 0)).toBeCloseTo(0, 6);
  });

  test('a running baseline is carried from round to round', async () => {
    const planned = async (variant: string, recipeState?: unknown) => {
      const records = { ...recordsOf('grpo', groups()), recipeState };
      return await planTraining(records, noValues, methodOf(variant), { maxNew: 10 });
    };
    // Rewards 1, 0, 0, 1, 1 in their order, each against the baseline before it: b moves by a twentieth of the way.
    const first = await planned('rae');
    const b = [0, 0.05, 0.0475, 0.045125, 0.09286875];
    expect(advantagesOf(first)).toEqual(close([1, -b[1]!, -b[2]!, 1 - b[3]!, 1 - b[4]!]));
    const left = 0.95 * b[4]! + 0.05;
    expect(first.recipeState).toEqual({ baselines: { solver: expect.closeTo(left, 8) } });
    expect(first.figures).toMatchObject({ 'baseline.solver': expect.closeTo(left, 8) });
    expect(advantagesOf(await planned('rae', first.recipeState))[0]).toBeCloseTo(1 - left, 8);
    // The whole batch against one baseline, which then moves by a tenth of the way to the batch’s mean, 3/5.
    const batch = await planned('batch-baseline', { baselines: { solver: 0.5 } });
    expect(advantagesOf(batch)).toEqual([0.5, -0.5, -0.5, 0.5, 0.5]);
    expect(batch.recipeState).toEqual({ baselines: { solver: expect.closeTo(0.51, 8) } });
    expect((await planned('rloo', { anything: 'else' })).recipeState).toBeUndefined();
  });

  test('every variant has a training plan, and a missing reward is no zero', async () => {
    const values: LearnTools['values'] = async (_, sequences) =>
      sequences.map(({ ids }) => new Float32Array(ids.length));
    for (const variant of Object.keys(VARIANTS)) {
      const missing = groups().map((group) => ({
        ...group,
        samples: group.samples.map(
          (sample, i): Sample => (i === 1 ? { ...sample, rewards: { reward: null } } : sample),
        ),
      }));
      const made = await planTraining(recordsOf('grpo', missing), { values }, methodOf(variant), {
        maxNew: 10,
      });
      expect(policyPart(made).items, variant).toHaveLength(3);
      expect(policyPart(made).objective, variant).toEqual(methodOf(variant).objective);
    }
    expect(() => methodOf('grppo')).toThrow(/no variant "grppo"\. Expected one of kl, dr-grpo/);
  });
});

const utf8 = (text: string) => new TextEncoder().encode(text);

describe('rounds', () => {
  const trainer = new RoundTrainer();
  beforeAll(async () => {
    await openDevice({ device: 'cpu', threads: 1 });
  });
  afterAll(() => trainer.dispose());

  const sums = async (): Promise<Questions['tasks']> => {
    const random = new Random('sums');
    const lines = Array.from({ length: 80 }, () => {
      const task = randomTask(random, 1 + random.int(3));
      return JSON.stringify({
        question: task,
        answer: String(runningTotals(task).at(-1)),
        terms: task.length,
      });
    });
    const settings = { checker: findChecker('number'), difficulty: 'terms' };
    const tasks = await readTasks('sums.jsonl', utf8(lines.join('\n')), settings);
    return taskSet([{ tasks, weight: 1 }], { share: 0.2 });
  };

  async function play(
    name: string,
    files: VersionFiles,
    questions: Questions,
    change: Partial<RunSettings> = {},
    most: Partial<InProcessRun> = {},
  ) {
    const store = new MemoryRunStore();
    await store.commitVersion({ name, version: 0 }, files);
    const policies = new OpenPolicies(nodeEngines, (ref) => store.loadVersion(ref));
    const recipe = grpoOn({ questions, startPolicy: 'seed' });
    const settings: RunSettings = {
      recipe: 'grpo',
      seed: 0,
      policy: name,
      rewardFunction: Object.keys(recipe.rewards)[0]!,
      freeze: [],
      tasks: 4,
      groupSize: 4,
      ...change,
    };
    const rounds = change.variant ? 1 : 2;
    const summary = await runInProcess({
      recipe,
      settings,
      rounds,
      evaluateEvery: 1,
      store,
      trainer,
      ...textOf(files, name),
      use: policies.use,
      roles: bindingsOf(recipe, settings),
      ...most,
    });
    await policies.dispose();
    const trained = await store.loadVersion({ name, version: summary.rounds });
    return { summary, trained, last: trained['model.safetensors']!, first: files['model.safetensors']! };
  }

  test('a small policy is trained on a file in its tags, again to the same bytes', async () => {
    const seed = await readPolicyFolder('models/arithmetic-base');
    const questions: Questions = {
      name: 'sums',
      tasks: await sums(),
      checker: findChecker('number'),
      extract: ['answer'],
      maxNew: 26,
      examined: 8,
      rewards: QUESTION_REWARDS,
    };
    const { summary, last, first } = await play('sums', seed, questions);
    expect(summary.heldout).toHaveLength(3);
    expect(summary.heldout[0]).toMatchObject({ n: 8 });
    // The seed knows small sums.
    expect(summary.heldout[0]!.accuracy).toBeGreaterThan(0.1);
    expect(last).not.toEqual(first);
    // What an evaluation asks beside changes nothing of the training.
    const heldOutSamples = { samples: 4, temperatures: [0.01, 1] };
    const again = await play('sums', seed, { ...questions, heldOutSamples });
    expect(again.last).toEqual(last);
    for (const [i, { accuracy, figures }] of summary.heldout.entries()) {
      const asked = again.summary.heldout[i]!;
      expect(asked.accuracy).toBe(accuracy);
      expect(Object.keys(figures!)).toEqual(['accuracyLow', 'accuracyHigh', 'tokens']);
      const shares = { ...asked.figures };
      // At next to no temperature every sample is the greedy answer.
      for (const at of ['sampledAt.0', 'sampledAt.0.01', 'passAt.0.01', 'majorityAt.0.01'])
        expect(shares[at]).toBeCloseTo(accuracy, 12);
      expect(shares['passAt.1']).toBeGreaterThanOrEqual(shares['sampledAt.1']!);
      expect(shares['bestTemperature']).toBe(shares['sampledAt.1']! > accuracy ? 1 : 0);
    }
    // Where it may sample one token, its first round is its last, and evaluated as such.
    const ended = (await play('sums', seed, questions, {}, { tokens: 1, evaluateEvery: 5 })).summary;
    expect(ended.heldout.map(({ round }) => round)).toEqual([0, 1]);
    expect(ended.tokens.generated).toBeLessThan(summary.tokens.generated);
    const ppo = await play('sums', seed, questions, { variant: 'ppo' });
    expect(ppo.last).not.toEqual(last);
  });

  test('an imported checkpoint is trained on a file by its chat template', async () => {
    const config = smallConfig({
      vocab_size: 262,
      max_position_embeddings: 192,
      hidden_size: 64,
      intermediate_size: 128,
      num_hidden_layers: 2,
    });
    const files: VersionFiles = {
      'config.json': utf8(JSON.stringify(toHfConfig(config))),
      'tokenizer.json': utf8(JSON.stringify(byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>']))),
      'tokenizer_config.json': utf8(
        JSON.stringify({ eos_token: '<|im_end|>', chat_template: SMOLLM_TEMPLATE }),
      ),
      'model.safetensors': writeSafetensors(randomTensors(config)),
    };
    const questions: Questions = {
      name: 'say',
      tasks: await sums(),
      // Random weights know nothing: what ends in time is right for some pattern, so that there is something to learn.
      checker: {
        name: 'short',
        description: 'an answer of few characters',
        prepare: () => (answer) => ({ ok: true, value: answer.length < 12 }),
      },
      extract: ['whole'],
      maxNew: 24,
      rewards: QUESTION_REWARDS,
    };
    const { summary, trained, last, first } = await play('chat', files, questions, {
      tasks: 4,
      groupSize: 8,
    });
    expect(last).not.toEqual(first);
    expect(summary.heldout).toHaveLength(3);
    expect(trained['tokenizer_config.json']).toEqual(files['tokenizer_config.json']);
  });

  test('what is drawn is never held out, and the record holds the whole task', async () => {
    const tasks = await sums();
    const recipe = grpoOn({
      questions: {
        name: 's',
        tasks,
        checker: findChecker('number'),
        extract: ['answer'],
        maxNew: 26,
        rewards: QUESTION_REWARDS,
      },
      startPolicy: 'seed',
    });
    const round = { id: 'r', run: 'r', index: 1, settings: { tasks: 200 } };
    const { renderer } = textOf(await readPolicyFolder('models/arithmetic-base'), 'seed');
    const context = { round, renderer } as unknown as Parameters<typeof recipe.propose>[0];
    const { tasks: drawn } = await recipe.propose(context);
    const questions = drawn.map(({ task }) => readTask(task).messages[0]!.content);
    expect(drawn).toHaveLength(tasksHere(tasks).length);
    for (const { messages } of tasks.heldOut) expect(questions).not.toContain(messages[0]!.content);
    expect(extractAnswer(readTask(drawn[0]!.task).answer, ['whole']).ok).toBe(true);
  });
});
