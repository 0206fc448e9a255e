import { expect, test } from 'vitest';
import type { SamplingSettings } from '../../../core/policy/policy.ts';
import { answerAsLlamaCpp, END } from './llama-cpp-answer.ts';
import { logprobsAfter, serveLocally } from './local-server.ts';

const server = serveLocally(answerAsLlamaCpp, 'llama.cpp');
const { remote, seen } = server;

const prompts = [
  { ids: [1, 2, 3], sampleIds: ['a', 'b', 'c'] },
  { ids: [4, 5], sampleIds: ['d'] },
];
const settings: SamplingSettings = { maxNew: 12, temperature: 1, stop: [7, 8, END] };

test('completions end with their first stop token, and are what the policy gives them', async () => {
  const out = await remote().generate(prompts, settings);
  const all = out.flat();
  expect(all).toHaveLength(4);
  expect(seen.every(({ min_p, top_k }) => min_p === 0 && top_k === 0)).toBe(true);
  expect(all.some(({ stopped }) => stopped)).toBe(true);
  for (const [p, samples] of out.entries())
    for (const { ids, logprobs, stopped } of samples) {
      expect(ids.findIndex((id) => settings.stop.includes(id))).toBe(stopped ? ids.length - 1 : -1);
      expect(stopped || ids.length === 12).toBe(true);
      const rows = logprobsAfter([...prompts[p]!.ids, ...ids]).slice(prompts[p]!.ids.length - 1);
      for (const [i, x] of logprobs.entries()) expect(x).toBeCloseTo(rows[i]![ids[i]!]!, 4);
    }
});

test('log-probabilities after temperature are asked for and read', async () => {
  const warm = { ...settings, temperature: 0.7 };
  await expect(remote().generate(prompts, warm)).rejects.toMatchObject({ code: 'remote.sampling' });
  const [samples] = await remote({ processedLogprobs: true }).generate(prompts, warm);
  const { ids, logprobs } = samples![0]!;
  const logits = logprobsAfter([1, 2, 3])
    .at(-1)!
    .map((x) => x / 0.7);
  const total = logits.reduce((sum, x) => sum + Math.exp(x), 0);
  expect(logprobs[0]).toBeCloseTo(logits[ids[0]!]! - Math.log(total), 4);
});

test('scores agree with the engine here', async () => {
  const sequences = [[3, 1, 4, 1, 5], [2, 6], [5]];
  const [far, here] = [await remote().score(sequences), await server.local.score(sequences)];
  expect(far.map(({ logprobs }) => logprobs.length)).toEqual([4, 1, 0]);
  for (const [i, scores] of far.entries())
    for (const key of ['logprobs', 'entropy'] as const)
      for (const [at, x] of scores[key].entries()) expect(x).toBeCloseTo(here[i]![key][at]!, 4);
  await expect(remote({ vocabSize: 33 }).score(sequences)).rejects.toMatchObject({ code: 'remote.entropy' });
});

test('an answer of another dialect, or that ends by itself, is refused', async () => {
  await expect(remote({ dialect: 'vllm' }).generate(prompts, settings)).rejects.toMatchObject({
    code: 'remote.answer',
    next: expect.stringContaining('dialect'),
  });
  const content = [{ id: END, logprob: -1 }];
  server.instead = () => ({
    status: 200,
    body: JSON.stringify({ choices: [{ finish_reason: 'stop', logprobs: { content } }] }),
  });
  await expect(remote().generate(prompts, { ...settings, stop: [7] })).rejects.toMatchObject({
    code: 'remote.completion',
    next: expect.stringContaining(`${END}`),
  });
});
