import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { SamplingSettings } from '../../../core/policy/policy.ts';
import { someOf } from '../../../core/text/token-grammar.ts';
import { logprobsAfter, serveLocally } from './local-server.ts';

interface Asked {
  readonly model: string;
  readonly prompt: number[];
  readonly max_tokens: number;
  readonly temperature: number;
  readonly stop_token_ids?: number[];
  readonly echo?: boolean;
  readonly seed?: number;
  readonly logprobs: number;
}

const nameOf = (id: number) => `token_id:${id}`;

/** What vLLM would answer. */
const server = serveLocally<Asked>(async (asked, local) => {
  const { prompt, max_tokens: maxNew, temperature, stop_token_ids: stop = [] } = asked;
  const sampleIds = [`seed/${asked.seed}`];
  const [samples] = await local.generate([{ ids: prompt, sampleIds }], { maxNew, temperature, stop });
  const { ids, logprobs, stopped } = samples![0]!;
  if (!asked.echo)
    return {
      finish_reason: stopped ? 'stop' : 'length',
      logprobs: { tokens: ids.map(nameOf), token_logprobs: logprobs },
    };
  const all = [...prompt, ...ids];
  const tops = logprobsAfter(all.slice(0, -1));
  return {
    finish_reason: 'length',
    logprobs: {
      tokens: all.map(nameOf),
      token_logprobs: [null, ...tops.map((row, i) => row[all[i + 1]!]!)],
      top_logprobs: [
        null,
        ...tops.map((row) =>
          Object.fromEntries(row.slice(0, asked.logprobs).map((x, id) => [nameOf(id), x])),
        ),
      ],
    },
  };
}, 'vllm');
const { remote, seen } = server;

const prompts = [
  { ids: [1, 2, 3], sampleIds: ['a', 'b', 'c'] },
  { ids: [4, 5], sampleIds: ['d'] },
];
const settings: SamplingSettings = { maxNew: 6, temperature: 1, stop: [7, 8, 9] };

test('completions in the order given, one request a sample, each with its own seed', async () => {
  const out = await remote().generate(prompts, settings);
  expect(out.map((samples) => samples.length)).toEqual([3, 1]);
  expect(seen).toHaveLength(4);
  expect(new Set(seen.map(({ seed }) => seed)).size).toBe(4);
  expect(seen.every(({ model }) => model === 'far-3')).toBe(true);
  for (const [p, samples] of out.entries())
    for (const { ids, logprobs, stopped } of samples) {
      expect(stopped).toBe([7, 8, 9].includes(ids.at(-1)!));
      const [scored] = await server.local.score([[...prompts[p]!.ids, ...ids]]);
      const start = prompts[p]!.ids.length - 1;
      for (const [i, x] of logprobs.entries()) expect(x).toBeCloseTo(scored!.logprobs[start + i]!, 4);
    }
  expect(await remote().generate(prompts, settings)).toEqual(out);
});

test('scores agree with the engine here', async () => {
  const sequences = [[3, 1, 4, 1, 5, 9], [2, 6], [5]];
  const [far, here] = [await remote().score(sequences), await server.local.score(sequences)];
  for (const [i, scores] of far.entries())
    for (const key of ['logprobs', 'entropy'] as const)
      expect(
        scores[key].map((x, at) => Math.abs(x - here[i]![key][at]!)).every((error) => error < 1e-4),
      ).toBe(true);
  expect(far.map(({ logprobs }) => logprobs.length)).toEqual([5, 1, 0]);
});

test.each([
  [429, 'retry'],
  [503, 'retry'],
  [400, 'give-up'],
])('status %d is %s', async (status, kind) => {
  server.instead = () => ({ status, body: 'no' });
  await expect(remote().generate(prompts, settings)).rejects.toMatchObject({ code: 'remote.status', kind });
});

test('an answer without what is needed is refused', async () => {
  const answer = (choice: unknown) => {
    server.instead = () => ({
      status: 200,
      body: typeof choice === 'string' ? choice : JSON.stringify({ choices: [choice] }),
    });
    return expect(remote().generate(prompts, settings)).rejects;
  };
  const logprobs = (tokens: string[], numbers: (number | null)[]) => ({ tokens, token_logprobs: numbers });
  await answer('<html>').toMatchObject({ code: 'remote.answer' });
  await answer({ finish_reason: 'stop' }).toMatchObject({ code: 'remote.answer' });
  await answer({ finish_reason: 'length', logprobs: logprobs(['the'], [-1]) }).toMatchObject({
    code: 'remote.tokens',
  });
  await answer({ finish_reason: 'length', logprobs: logprobs(['token_id:1'], [null]) }).toMatchObject({
    code: 'remote.completion',
  });
  // A server that leaves the stop token out: its log-probability would be missing.
  await answer({ finish_reason: 'stop', logprobs: logprobs(['token_id:1'], [-1]) }).toMatchObject({
    code: 'remote.completion',
  });
  await expect(remote({ apiKey: 'wrong' }).generate(prompts, settings)).rejects.toMatchObject({
    code: 'remote.status',
  });
  await expect(
    remote({ baseUrl: 'http://127.0.0.1:1/v1' }).generate(prompts, settings),
  ).rejects.toMatchObject({
    code: 'remote.unreachable',
    kind: 'retry',
  });
});

describe('a server that lies is refused', () => {
  const names = (...ids: number[]) => ids.map(nameOf);
  const cut = (tokens: string[], numbers: number[]) => ({
    finish_reason: 'length',
    logprobs: { tokens, token_logprobs: numbers },
  });
  const six = [-1, -1, -1, -1, -1, -1];

  test.each([
    ['ids beyond the vocabulary', cut(names(1, 2, 3, 4, 5, 32), six), 'remote.tokens'],
    ['more tokens than were asked for', cut(names(1, 1, 1, 1, 1, 1, 1), [...six, -1]), 'remote.completion'],
    ['fewer, and not at an end', cut(names(1, 2), [-1, -1]), 'remote.completion'],
    [
      'a stop token in the middle',
      { finish_reason: 'stop', logprobs: { tokens: names(1, 7, 2, 8), token_logprobs: [-1, -1, -1, -1] } },
      'remote.completion',
    ],
    ['a log-probability above 0', cut(names(1, 2, 3, 4, 5, 6), [...six.slice(1), 50]), 'remote.logprob'],
  ])('%s', async (_, choice, code) => {
    server.instead = () => ({ status: 200, body: JSON.stringify({ choices: [choice] }) });
    await expect(remote().generate(prompts, settings)).rejects.toMatchObject({ code, kind: 'give-up' });
  });

  test('a number that rounding pushed above 0 is 0', async () => {
    const choice = cut(names(1, 2, 3, 4, 5, 6), [...six.slice(1), 1e-6]);
    server.instead = () => ({ status: 200, body: JSON.stringify({ choices: [choice] }) });
    const [samples] = await remote().generate([prompts[1]!], settings);
    expect(samples![0]!.logprobs.at(-1)).toBe(0);
  });

  test('scores of other tokens, or too few', async () => {
    const answer = (tokens: string[], numbers: (number | null)[]) => {
      const choice = {
        finish_reason: 'length',
        logprobs: { tokens, token_logprobs: numbers, top_logprobs: [] },
      };
      server.instead = () => ({ status: 200, body: JSON.stringify({ choices: [choice] }) });
      return expect(remote().score([[1, 2, 3]])).rejects;
    };
    await answer(names(1, 2, 4, 0), [null, -1, -1, -1]).toMatchObject({ code: 'remote.scores' });
    await answer(names(1, 2, 3, 0), [null, -1, -1, -1]).toMatchObject({ code: 'remote.scores' });
  });

  test('an answer without end, and one from elsewhere', async () => {
    server.instead = () => ({ status: 200, body: 'x'.repeat(200_000) });
    await expect(remote({ maxBytes: 100_000 }).generate(prompts, settings)).rejects.toMatchObject({
      code: 'remote.size',
    });
    let followed = false;
    const elsewhere = createServer((_, response) => {
      followed = true;
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    server.instead = () => ({ status: 307, body: '', headers: { location: `http://127.0.0.1:${port}/` } });
    await expect(remote().generate(prompts, settings)).rejects.toMatchObject({ code: 'remote.status' });
    expect(followed).toBe(false);
    elsewhere.close();
  });
});

test('what cannot be promised is refused before anything is sent', async () => {
  await expect(remote().generate(prompts, { ...settings, temperature: 0.7 })).rejects.toMatchObject({
    code: 'remote.sampling',
  });
  const grammar = someOf([1], { least: 1, most: 2, end: 0, vocabSize: 32 });
  await expect(remote().generate(prompts, { ...settings, grammar })).rejects.toMatchObject({
    code: 'remote.grammar',
  });
  await expect(remote().generate(prompts, { ...settings, alternatives: 2 })).rejects.toMatchObject({
    code: 'remote.alternatives',
  });
  await expect(remote().generate([{ ids: [32], sampleIds: ['x'] }], settings)).rejects.toMatchObject({
    code: 'policy.token',
  });
  expect(seen).toHaveLength(0);
  await remote({ processedLogprobs: true }).generate(prompts, { ...settings, temperature: 0.7 });
  expect(seen.every(({ temperature }) => temperature === 0.7)).toBe(true);
});
