/** Sequences beyond the positions for which rotary tables lie with the weights. */
import { beforeAll, expect, test } from 'vitest';
import type { Completion, Policy } from '../../../core/policy/policy.ts';
import { REFS } from '../../../infer/kernels/forms.ts';
import { createKernelPolicy, ISOLATE_BYTES } from '../../../infer/kernels/kernel-policy.ts';
import { loadBuilds } from '../../../infer/kernels/node-builds.ts';
import { randomTensors, smallConfig } from '../../model/checkpoints.ts';
import { referenceLogits, softmax } from '../../model/reference.ts';

const TABLED = 4096;
const MOST = 4300;
const config = smallConfig({
  ...{ vocab_size: 32, hidden_size: 16, intermediate_size: 32, num_hidden_layers: 1 },
  ...{ num_attention_heads: 2, num_key_value_heads: 1, max_position_embeddings: MOST },
});
const tensors = randomTensors(config);
const open = (hostBytes = ISOLATE_BYTES): Policy =>
  createKernelPolicy(loadBuilds(), { name: 'p', version: 0, ...REFS.plain }, config, tensors, hostBytes);

const prompt = [5, 9, 2];
const settings = { temperature: 1, stop: [] };
let drawn: Completion;
beforeAll(async () => {
  const watched: number[] = [];
  [[drawn]] = (await open().generate(
    [{ ids: prompt, sampleIds: ['long'] }],
    { ...settings, maxNew: TABLED + 40 },
    async ([ofPrompt]) => watched.push(ofPrompt![0]!.ids.length) > 0,
  )) as [[Completion]];
  expect(watched).toHaveLength(TABLED + 40);
});

test('the log-probabilities of tokens beyond are those of the float64 reference', () => {
  expect(drawn.ids).toHaveLength(TABLED + 40);
  const last = drawn.ids.slice(TABLED - 20);
  const read = [...prompt, ...drawn.ids.slice(0, -1)];
  const logits = referenceLogits(config, tensors, read, read.length - last.length);
  for (const [i, id] of last.entries())
    expect(drawn.logprobs[TABLED - 20 + i]).toBeCloseTo(Math.log(softmax(logits[i]!)[id]!), 4);
});

test('a score and the draw of a longer request have the same bits', async () => {
  const [score] = await open().score([[...prompt, ...drawn.ids]]);
  expect(score!.logprobs.slice(prompt.length - 1)).toEqual(drawn.logprobs);
  const [[again]] = (await open().generate(
    [{ ids: [...prompt, ...drawn.ids.slice(0, TABLED + 20)], sampleIds: ['more'] }],
    { ...settings, maxNew: 9 },
  )) as [[Completion]];
  const [checked] = await open().score([[...prompt, ...drawn.ids.slice(0, TABLED + 20), ...again.ids]]);
  expect(checked!.logprobs.slice(-9)).toEqual(again.logprobs);
});

test('a stop that comes early ends a request for more than the tables have', async () => {
  const wide = { ...settings, stop: [drawn.ids[6]!], maxNew: TABLED + 40 };
  const [[stopped]] = (await open().generate([{ ids: prompt, sampleIds: ['long'] }], wide)) as [[Completion]];
  const first = drawn.ids.indexOf(drawn.ids[6]!);
  expect(stopped).toMatchObject({ stopped: true, ids: drawn.ids.slice(0, first + 1) });
});

test('what the model was not made for, and what the host has no room for, is refused', async () => {
  const ask = (policy: Policy, maxNew: number) =>
    policy.generate([{ ids: prompt, sampleIds: ['a'] }], { ...settings, maxNew });
  await expect(ask(open(), MOST - 2)).rejects.toMatchObject({ code: 'policy.too-long' });
  // One layer, keys and values of one head of eight numbers: 64 bytes a token, so that 4200 tokens take .26 MiB beside the weights.
  const small = open(400_000);
  await expect(ask(small, 4200)).rejects.toMatchObject({ code: 'policy.memory' });
  expect((await ask(small, 8))[0]![0]!.ids).toHaveLength(8);
});
