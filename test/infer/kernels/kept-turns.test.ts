/** Keys and values kept between the turns of an episode: the bits of reading everything again, and less to read. */
import { expect, test } from 'vitest';
import type { Completion, SamplingSettings, TokenIds } from '../../../core/policy/policy.ts';
import { Decoder } from '../../../infer/kernels/decoder.ts';
import { ARITHMETIC, type Form, REFS } from '../../../infer/kernels/forms.ts';
import { KernelPolicy } from '../../../infer/kernels/kernel-policy.ts';
import type { KernelInstance, Kernels } from '../../../infer/kernels/kernels.ts';
import { loadBuilds } from '../../../infer/kernels/node-builds.ts';
import { openKernels } from '../../../infer/kernels/open-kernels.ts';
import { Weights } from '../../../infer/kernels/weights.ts';
import { parseConfig } from '../../../model/config.ts';
import { randomCheckpoint } from '../../../model/init.ts';

/** Two key-value heads for four heads, so that rows of a group share keys. */
const config = parseConfig({
  model_type: 'qwen3',
  vocab_size: 40,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  max_position_embeddings: 256,
});
const settings: SamplingSettings = { maxNew: 7, temperature: 1, stop: [3] };

/** A policy that counts the tokens that it reads as parts of prompts. */
function open(form: Form): { policy: KernelPolicy; read: () => number } {
  const instance: KernelInstance = openKernels(loadBuilds(), form);
  const { planes } = ARITHMETIC[form];
  const weights = new Weights(instance, config, planes > 0);
  for (const [name, { shape, data }] of randomCheckpoint(config, 'turns'))
    weights.write({ name, shape, row: 0, data });
  weights.complete();
  let tokens = 0;
  const kernels: Kernels = {
    ...instance.kernels,
    appendTokens: (rows, ...rest) => {
      tokens += rows! / config.layers.length;
      return instance.kernels.appendTokens(rows!, ...rest);
    },
  };
  const decoder = new Decoder({ ...instance, kernels }, config, weights, planes);
  return {
    policy: new KernelPolicy({ name: 'turns', version: 0, ...REFS[form] }, decoder),
    read: () => {
      const since = tokens;
      tokens = 0;
      return since;
    },
  };
}

const observation = (turn: number, i: number): number[] => [5 + turn, 9 + (i % 20), 4];

interface Turn {
  readonly prompts: TokenIds[];
  readonly completions: Completion[];
  /** Tokens that were read as parts of prompts. */
  readonly read: number;
}

/** Plays episodes of `turns` turns; the prompt of a turn is all that came before and what the world answers. */
async function play(form: Form, { again = false, turns = 4, episodes = 6 } = {}): Promise<Turn[]> {
  let { policy, read } = open(form);
  let prompts: TokenIds[] = Array.from({ length: episodes }, (_, i) => [1, 7, 8, 9, 10, 11 + (i >> 1), 2]);
  const played: Turn[] = [];
  for (let turn = 0; turn < turns; turn++) {
    if (again) ({ policy, read } = open(form));
    const asked = prompts.map((ids, i) => ({ ids, sampleIds: [`${i}/${turn}`] }));
    const completions = (await policy.generate(asked, settings)).map(([completion]) => completion!);
    played.push({ prompts, completions, read: read() });
    prompts = prompts.map((ids, i) => [...ids, ...completions[i]!.ids, ...observation(turn, i)]);
  }
  return played;
}

test.each(['fused', 'plain', 'int8', 'w8a8'] as const)(
  '%s: later turns have the bits of a policy that reads them anew',
  async (form) => {
    const kept = await play(form);
    const anew = await play(form, { again: true });
    expect(kept.map(({ completions }) => completions)).toEqual(anew.map(({ completions }) => completions));
  },
);

test('from the third turn on, only what is new is read', async () => {
  const turns = await play('plain');
  const prompts = (turn: number) => turns[turn]!.prompts.map((ids) => ids.length);
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  // Turn 0 generates without keeping anything; turn 1 shows that its prompts go on from turn 0, and is read whole.
  expect(turns[0]!.read).toBe(sum(prompts(0)) - 6);
  expect(turns[1]!.read).toBe(sum(prompts(1)) - 6);
  for (const turn of [2, 3]) {
    // All tokens of the turn before but the last drawn one are kept; the last token of the prompt is not read beforehand.
    const before = turns[turn - 1]!;
    const held = before.prompts.map((ids, i) => ids.length + before.completions[i]!.ids.length - 1);
    expect(turns[turn]!.read).toBe(sum(prompts(turn)) - 6 - sum(held));
  }
});

test('samples of one prompt go on separately', async () => {
  const { policy } = open('plain');
  const prompt = [1, 7, 8, 2];
  const samples = ['a', 'b', 'c'];
  const next = (completions: readonly Completion[], from: readonly TokenIds[]) =>
    completions.map(({ ids }, i) => [...from[i]!, ...ids, 4, 5]);
  const first = (await policy.generate([{ ids: prompt, sampleIds: samples }], settings))[0]!;
  let prompts = next(first, [prompt, prompt, prompt]);
  for (let turn = 1; turn < 4; turn++) {
    const asked = prompts.map((ids, i) => ({ ids, sampleIds: [`${samples[i]}${turn}`] }));
    const got = (await policy.generate(asked, settings)).map(([completion]) => completion!);
    const anew = (await open('plain').policy.generate(asked, settings)).map(([completion]) => completion!);
    expect(got).toEqual(anew);
    prompts = next(got, prompts);
  }
});

test('a prompt that another sequence only resembles is read whole', async () => {
  const { policy, read } = open('plain');
  let prompt: TokenIds = [1, 7, 8, 9, 2];
  for (let turn = 0; turn < 3; turn++) {
    const [[completion]] = (await policy.generate([{ ids: prompt, sampleIds: [`${turn}`] }], settings)) as [
      [Completion],
    ];
    prompt = [...prompt, ...completion.ids, 4];
  }
  read();
  const changed = prompt.with(1, 12);
  const asked = [{ ids: changed, sampleIds: ['x'] }];
  const got = await policy.generate(asked, settings);
  expect(read()).toBe(changed.length - 1);
  expect(got).toEqual(await open('plain').policy.generate(asked, settings));
});
