/** OpenAI's own client, vLLM's tokens in, tokens out, and `rollmesh chat` against the local mesh. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TokenIds } from '../../core/policy/policy.ts';
import { Random } from '../../core/random.ts';
import { type PolicyText, textOf } from '../../core/renderer/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { openVersion } from '../../infer/open-version.ts';
import { readStart } from '../../local/find-start.ts';
import { ensureShipped, importPolicy } from '../../local/starts.ts';
import { type ModelConfig, parseConfig } from '../../model/config.ts';
import { readSafetensors, type Tensors } from '../../model/safetensors.ts';
import { promptOf, questionOf, randomTask, readTask } from '../../worlds/canvas/family.ts';
import { drawScene } from '../../worlds/canvas/scene.ts';
import { pngOf } from '../core/images/png.ts';
import { referenceLogits } from '../model/reference.ts';
import { ALONE, openScene, type Scene } from './scene.ts';

const POLICY = 'words';
const PAGE = 'https://page.example';
const QUESTION = [{ role: 'user', content: 'What is 3 + 4?' }] as const;

let scene: Scene;
let openai: OpenAI;

beforeAll(async () => {
  scene = await openScene({ vars: { CORS_ORIGINS: PAGE } });
  await ensureShipped(scene.gateway, POLICY);
  // While this process computes, it does not see that workerd has closed a connection that was idle for some seconds, and uses it again.
  openai = new OpenAI({ baseURL: `${scene.mesh.url}/v1`, apiKey: 'none', maxRetries: 1 });
});
afterAll(async () => {
  await scene.mesh.stop();
  rmSync(scene.stateDir, { recursive: true });
});

const ask = (more: object = {}) =>
  openai.chat.completions.create({ model: POLICY, messages: [...QUESTION], max_tokens: 40, ...more });

/** vLLM's fields, which OpenAI's types do not have. */
interface WithIds {
  readonly token_ids: number[];
  readonly prompt_token_ids: number[];
}

/** The prompt as the policy's own template renders it, read here from its files. */
async function promptIds(): Promise<TokenIds> {
  const files = await readStart(POLICY);
  return textOf(files, POLICY)
    .renderer()
    .begin([...QUESTION]).ids;
}

/** Log-probabilities (nats) of the tokens of a completion, by ONNX Runtime and not by the engine that drew them. */
async function scored(prompt: TokenIds, ids: TokenIds): Promise<number[]> {
  const policy = await openVersion(nodeEngines, { name: POLICY, version: 0 }, await readStart(POLICY));
  const [scores] = await policy.score([[...prompt, ...ids]]);
  await policy.dispose();
  return scores!.logprobs.slice(prompt.length - 1);
}

describe('chat completions', () => {
  test('an answer has its text, its tokens and their log-probabilities', async () => {
    const answer = await ask({ seed: 1, logprobs: true, return_token_ids: true });
    const [choice] = answer.choices;
    const { token_ids: ids } = choice as unknown as WithIds;
    const { prompt_token_ids: prompt } = answer as unknown as WithIds;
    expect(answer.model).toBe('words@0');
    expect(prompt).toEqual(await promptIds());
    expect(answer.usage).toEqual({
      prompt_tokens: prompt.length,
      completion_tokens: ids.length,
      total_tokens: prompt.length + ids.length,
    });
    const tokens = choice!.logprobs!.content!;
    expect(tokens).toHaveLength(ids.length);
    const stopped = choice!.finish_reason === 'stop';
    const text = tokens.map(({ token }) => token).slice(0, stopped ? -1 : undefined);
    expect(text.join('')).toBe(choice!.message.content);
    const wanted = await scored(prompt, ids);
    tokens.forEach(({ logprob }, i) => {
      expect(logprob).toBeCloseTo(wanted[i]!, 3);
    });
  });

  test('equal seeds give equal answers, in a stream too; others do not', async () => {
    const first = await ask({ seed: 5, n: 4 });
    const again = await ask({ seed: 5, n: 4 });
    const texts = (answer: typeof first) => answer.choices.map(({ message }) => message.content);
    expect(texts(again)).toEqual(texts(first));
    expect(texts(await ask({ seed: 6, n: 4 }))).not.toEqual(texts(first));
    const streamed = ['', '', '', ''];
    const ends: (string | null)[] = [];
    let chunks = 0;
    for await (const { choices, usage } of await openai.chat.completions.create({
      model: POLICY,
      messages: [...QUESTION],
      max_tokens: 40,
      seed: 5,
      n: 4,
      stream: true,
      stream_options: { include_usage: true },
    })) {
      chunks++;
      for (const { index, delta, finish_reason: end } of choices) {
        streamed[index] += delta.content ?? '';
        if (end) ends[index] = end;
      }
      if (usage) expect(usage).toEqual(first.usage);
    }
    expect(streamed).toEqual(texts(first));
    expect(ends).toEqual(first.choices.map(({ finish_reason: end }) => end));
    // Token by token, and not the whole text at the end.
    expect(chunks).toBeGreaterThan(8);
  });

  test('a picture is shown to a policy that sees, and refused by name for one that does not', async () => {
    await ensureShipped(scene.gateway, 'canvas');
    const task = randomTask(new Random('endpoint'), 'shape');
    const picture = drawScene(readTask(task)!.scene);
    const url = `data:image/png;base64,${Buffer.from(pngOf(picture)).toString('base64')}`;
    const messages = [
      {
        role: 'user' as const,
        content: [
          { type: 'image_url' as const, image_url: { url } },
          { type: 'text' as const, text: questionOf(task) },
        ],
      },
    ];
    const asked = { messages, max_tokens: 4, temperature: 0, logprobs: true, return_token_ids: true };
    const answer = await ask({ ...asked, model: 'canvas', prompt_logprobs: 0 });
    const files = await readStart('canvas');
    // The prompt of the world itself, and the log-probabilities of the other engine.
    const prompt = textOf(files, 'canvas').tokenizer.encode(promptOf(task));
    expect((answer as unknown as WithIds).prompt_token_ids).toEqual(prompt);
    const { token_ids: ids } = answer.choices[0] as unknown as WithIds;
    const policy = await openVersion(nodeEngines, { name: 'canvas', version: 0 }, files);
    const [scores] = await policy.score([[...prompt, ...ids]]);
    await policy.dispose();
    const wanted = scores!.logprobs.slice(prompt.length - 1);
    answer.choices[0]!.logprobs!.content!.forEach(({ logprob }, i) => {
      expect(logprob).toBeCloseTo(wanted[i]!, 3);
    });
    await expect(ask({ ...asked, model: POLICY })).rejects.toMatchObject({
      status: 422,
      code: 'policy.blind',
    });
    const far = [
      { ...messages[0]!, content: [{ type: 'image_url', image_url: { url: 'https://x.y/z.png' } }] },
    ];
    await expect(ask({ messages: far, model: 'canvas' })).rejects.toMatchObject({ code: 'image.url' });
  });

  test('a stop string ends the text before it', async () => {
    const greedy = { temperature: 0, max_tokens: 40 };
    const whole = (await ask(greedy)).choices[0]!.message.content!;
    const stop = whole.slice(Math.floor(whole.length / 2), Math.floor(whole.length / 2) + 2);
    expect(stop.length).toBeGreaterThan(0);
    const cut = (await ask({ ...greedy, stop })).choices[0]!;
    expect(cut.message.content).toBe(whole.slice(0, whole.indexOf(stop)));
    expect(cut.finish_reason).toBe('stop');
    let streamed = '';
    const stream = await openai.chat.completions.create({
      ...greedy,
      model: POLICY,
      messages: [...QUESTION],
      stop,
      stream: true,
    });
    for await (const { choices } of stream) streamed += choices[0]?.delta.content ?? '';
    expect(streamed).toBe(cut.message.content);
  });

  test('both engines answer alike', async () => {
    const greedy = { temperature: 0, max_tokens: 24 };
    const [kernels, onnx] = [await ask(greedy), await ask({ ...greedy, engine: 'onnx' })];
    expect(onnx.choices[0]!.message).toEqual(kernels.choices[0]!.message);
    expect([kernels.system_fingerprint, onnx.system_fingerprint]).toEqual([
      'kernels/float32',
      'onnx/float32',
    ]);
    let streamed = '';
    const stream = await openai.chat.completions.create({
      ...greedy,
      model: POLICY,
      messages: [...QUESTION],
      stream: true,
      ...{ engine: 'onnx' },
    });
    for await (const { choices } of stream) streamed += choices[0]?.delta.content ?? '';
    expect(streamed).toBe(onnx.choices[0]!.message.content);
  });

  test('a caller who goes away ends the generation, and nobody else waits for it', async () => {
    const stream = await openai.chat.completions.create({
      model: POLICY,
      messages: [...QUESTION],
      max_tokens: 400,
      n: 16,
      stream: true,
    });
    for await (const chunk of stream) {
      expect(chunk.choices).toHaveLength(1);
      stream.controller.abort();
    }
    expect((await ask({ max_tokens: 1 })).choices).toHaveLength(1);
  });
});

describe('the most likely tokens', () => {
  const MOST = 4;
  let config: ModelConfig;
  let tensors: Tensors;
  let text: PolicyText;
  beforeAll(async () => {
    const files = await readStart(POLICY);
    config = parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));
    tensors = readSafetensors(files['model.safetensors']!);
    text = textOf(files, POLICY);
  });

  /** [ids][vocabulary]: log-probabilities after the prompt, by a second implementation of the policy in float64 and a softmax of its own. */
  function distributions(prompt: TokenIds, ids: TokenIds, temperature: number): number[][] {
    const all = referenceLogits(config, tensors, [...prompt, ...ids.slice(0, -1)]);
    return ids.map((_, t) => {
      const scaled = all[prompt.length - 1 + t]!.map((logit) => logit / temperature);
      const most = Math.max(...scaled);
      const total = Math.log(scaled.reduce((sum, logit) => sum + Math.exp(logit - most), 0)) + most;
      return scaled.map((logit) => logit - total);
    });
  }
  /** The most likely tokens in the places of an answer. */
  const wanted = (prompt: TokenIds, ids: TokenIds, temperature: number) =>
    distributions(prompt, ids, temperature).map((logprobs) =>
      [...logprobs.entries()]
        .sort(([, a], [, b]) => b - a)
        .slice(0, MOST)
        .map(([id, logprob]) => ({ token: text.tokenizer.decode([id]), logprob })),
    );
  const expectClose = (given: { token: string; logprob: number }[], right: typeof given) => {
    expect(given.map(({ token }) => token)).toEqual(right.map(({ token }) => token));
    given.forEach(({ logprob }, i) => {
      expect(logprob).toBeCloseTo(right[i]!.logprob, 3);
    });
  };
  const sampling = { seed: 3, max_tokens: 6, temperature: 0.8, return_token_ids: true };

  test.each(['kernels', 'kernels-plain', 'onnx'])('of a chat by %s, in a stream too', async (engine) => {
    const settings = { ...sampling, logprobs: true, top_logprobs: MOST, engine };
    const answer = await ask(settings);
    const tokens = answer.choices[0]!.logprobs!.content!;
    const { prompt_token_ids: prompt } = answer as unknown as WithIds;
    const { token_ids: ids } = answer.choices[0] as unknown as WithIds;
    const right = wanted(prompt, ids, 0.8);
    tokens.forEach(({ token, logprob, bytes, top_logprobs: most }, t) => {
      expectClose(most, right[t]!);
      expect(most.map((one) => one.bytes)).toEqual(
        most.map((one) => [...new TextEncoder().encode(one.token)]),
      );
      const same = most.find((one) => one.token === token);
      if (same) expect(same).toEqual({ token, logprob, bytes });
    });
    const streamed: unknown[] = [];
    const stream = await openai.chat.completions.create({
      ...{ model: POLICY, messages: [...QUESTION], stream: true },
      ...settings,
    });
    for await (const { choices } of stream) streamed.push(...(choices[0]?.logprobs?.content ?? []));
    expect(streamed).toEqual(tokens);
    // They change no draw.
    const plain = await ask({ ...settings, top_logprobs: 0 });
    expect(plain.choices[0]!.message).toEqual(answer.choices[0]!.message);
  });

  test('of completions, by their texts; the drawn token is among them', async () => {
    const prompt = await promptIds();
    const settings = { model: 'words@0', prompt: [...prompt], ...sampling };
    const answer = await openai.completions.create({ ...settings, n: 2, logprobs: MOST });
    for (const choice of answer.choices) {
      const { tokens, token_logprobs: drawn, top_logprobs: most } = choice.logprobs!;
      const right = wanted(prompt, (choice as unknown as WithIds).token_ids, 0.8);
      expect(most).toHaveLength(tokens!.length);
      most!.forEach((those, t) => {
        expect(those[tokens![t]!]).toBe(drawn![t]);
        const { [tokens![t]!]: _drawn, ...others } = those;
        const among = right[t]!.filter(({ token }) => token !== tokens![t]);
        expectClose(
          Object.entries(others)
            .map(([token, logprob]) => ({ token, logprob }))
            .sort((a, b) => b.logprob - a.logprob),
          among,
        );
      });
    }
    const ids = await openai.completions.create({
      ...settings,
      ...{ logprobs: 1, return_tokens_as_token_ids: true },
    });
    for (const those of ids.choices[0]!.logprobs!.top_logprobs!)
      for (const token of Object.keys(those)) expect(token).toMatch(/^token_id:\d+$/);
  });

  /** vLLM's answer about a prompt: null for its first token, of the others an object by ids. */
  type Told = (null | Record<string, { logprob: number; rank: number; decoded_token: string }>)[];
  /** The token of each place and the two likeliest, with their ranks. */
  function expectTold(told: Told, prompt: TokenIds): void {
    const right = distributions(prompt.slice(0, 1), prompt.slice(1), 1);
    expect(told).toHaveLength(prompt.length);
    expect(told[0]).toBeNull();
    told.slice(1).forEach((place, t) => {
      const ordered = [...right[t]!.entries()].sort(([, a], [, b]) => b - a).map(([id]) => id);
      const ids = new Set([prompt[t + 1]!, ...ordered.slice(0, 2)]);
      expect(Object.keys(place!).map(Number).sort()).toEqual([...ids].sort());
      for (const id of ids) {
        const { logprob, rank, decoded_token: token } = place![id]!;
        expect(logprob).toBeCloseTo(right[t]![id]!, 3);
        expect(rank).toBe(ordered.indexOf(id) + 1);
        expect(token).toBe(text.tokenizer.decode([id]));
      }
    });
  }

  test.each(['kernels', 'onnx'])(
    'of prompts, as evaluation harnesses ask for likelihoods: %s',
    async (engine) => {
      const prompt = [...(await promptIds())];
      const prompts = [prompt, prompt.slice(0, 3)];
      const settings = {
        model: 'words@0',
        temperature: 0,
        echo: true,
        logprobs: MOST,
        prompt_logprobs: 2,
        engine,
      };
      const { choices, usage } = await openai.completions.create({
        ...settings,
        prompt: prompts,
        max_tokens: 1,
      });
      expect(usage!.completion_tokens).toBe(2);
      for (const [p, { text: said, logprobs, ...more }] of choices.entries()) {
        const ids = prompts[p]!;
        expect(said.startsWith(text.tokenizer.decode(ids))).toBe(true);
        const { tokens, token_logprobs: own, top_logprobs: most, text_offset: offsets } = logprobs!;
        expect(tokens!.slice(0, -1)).toEqual(ids.map((id) => text.tokenizer.decode([id])));
        expect(offsets!.slice(0, 2)).toEqual([0, tokens![0]!.length]);
        expect([own![0], most![0]]).toEqual([null, null]);
        const right = distributions(ids.slice(0, 1), ids.slice(1), 1);
        ids.slice(1).forEach((id, t) => {
          expect(own![t + 1]).toBeCloseTo(right[t]![id]!, 3);
          // What a harness calls greedy: the token itself is the likeliest.
          const best = Math.max(...Object.values(most![t + 1]!));
          expect(best).toBeCloseTo(Math.max(...right[t]!), 3);
        });
        expectTold((more as unknown as { prompt_logprobs: Told }).prompt_logprobs, ids);
      }
      // Nothing is drawn, and a text stays as it was given.
      const alone = await openai.completions.create({ ...settings, prompt: 'What is 3 + 4?', max_tokens: 0 });
      expect(alone.choices).toMatchObject([{ text: 'What is 3 + 4?', finish_reason: 'length' }]);
      const { tokens, token_logprobs: own, top_logprobs: most } = alone.choices[0]!.logprobs!;
      expect(tokens).toHaveLength(alone.usage!.prompt_tokens);
      expect(most).toHaveLength(tokens!.length);
      most!.slice(1).forEach((those, t) => {
        expect(those[tokens![t + 1]!]).toBeCloseTo(own![t + 1]!, 5);
      });
    },
  );

  test('of the prompt of a chat, and of ids', async () => {
    const prompt = [...(await promptIds())];
    const chat = await ask({ ...sampling, prompt_logprobs: 2 });
    expectTold((chat as unknown as { prompt_logprobs: Told }).prompt_logprobs, prompt);
    const response = await fetch(`${scene.mesh.url}/inference/v1/generate`, {
      method: 'POST',
      body: JSON.stringify({
        model: POLICY,
        token_ids: prompt,
        sampling_params: { max_tokens: 1, prompt_logprobs: 2 },
      }),
    });
    expectTold(((await response.json()) as { prompt_logprobs: Told }).prompt_logprobs, prompt);
  });
});

test('a policy with a notation of its own calls tools, in a stream too', async () => {
  await ensureShipped(scene.gateway, 'search-two-hop');
  const query = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
  const tools = [{ type: 'function' as const, function: { name: 'look', parameters: query } }];
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: 'user', content: 'the mayor of the home of situ?' },
  ];
  const greedy = { model: 'search-two-hop', tools, temperature: 0, max_tokens: 22 };
  const [choice] = (await openai.chat.completions.create({ ...greedy, messages })).choices;
  expect(choice!.finish_reason).toBe('tool_calls');
  expect(choice!.message.content).toBeNull();
  const [call] = choice!.message.tool_calls!;
  expect(call).toMatchObject({
    type: 'function',
    function: { name: 'look', arguments: '{"query":"home situ"}' },
  });
  let [said, streamed] = ['', {}];
  for await (const { choices } of await openai.chat.completions.create({
    ...greedy,
    messages,
    stream: true,
  })) {
    said += choices[0]?.delta.content ?? '';
    for (const { function: part } of choices[0]?.delta.tool_calls ?? []) streamed = part!;
  }
  expect([said, streamed]).toEqual(['', { name: 'look', arguments: '{"query":"home situ"}' }]);
  const found = { role: 'tool' as const, tool_call_id: call!.id, content: 'the home of situ is rola.' };
  messages.push(choice!.message, found);
  const next = (await openai.chat.completions.create({ ...greedy, messages })).choices[0]!.message;
  expect(next.tool_calls![0]).toMatchObject({ function: { arguments: '{"query":"mayor rola"}' } });
  messages.push(next, {
    ...found,
    tool_call_id: next.tool_calls![0]!.id,
    content: 'the mayor of rola is zoma.',
  });
  const last = (await openai.chat.completions.create({ ...greedy, messages })).choices[0]!;
  expect(last).toMatchObject({ finish_reason: 'stop', message: { content: '<answer>zoma' } });
  expect(last.message.tool_calls).toBeUndefined();
});

describe('responses', () => {
  const asked = { model: POLICY, input: [...QUESTION], max_output_tokens: 40, seed: 7 };

  test('an answer is that of the chat completion which asks the same, in a stream too', async () => {
    const chat = await ask({ seed: 7, logprobs: true });
    const answer = await openai.responses.create({ ...asked, include: ['message.output_text.logprobs'] });
    expect(answer.model).toBe('words@0');
    expect(answer.status).toBe(chat.choices[0]!.finish_reason === 'stop' ? 'completed' : 'incomplete');
    expect(answer.output_text).toBe(chat.choices[0]!.message.content);
    const [message] = answer.output as OpenAI.Responses.ResponseOutputMessage[];
    const [part] = message!.content as OpenAI.Responses.ResponseOutputText[];
    expect(part!.logprobs!.map(({ token, logprob }) => [token, logprob])).toEqual(
      chat.choices[0]!.logprobs!.content!.map(({ token, logprob }) => [token, logprob]),
    );
    expect(answer.usage).toMatchObject({
      input_tokens: chat.usage!.prompt_tokens,
      output_tokens: chat.usage!.completion_tokens,
    });

    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await openai.responses.create({ ...asked, stream: true })) events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 4)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
    ]);
    expect(types.slice(-4)).toEqual([
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      `response.${answer.status}`,
    ]);
    const deltas = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    );
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe(answer.output_text);
    const last = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent;
    expect((last.response.output[0] as OpenAI.Responses.ResponseOutputMessage).content[0]).toMatchObject({
      text: answer.output_text,
    });
  });

  test('calls come as items, and their results go back as items', async () => {
    await ensureShipped(scene.gateway, 'search-two-hop');
    const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
    const tools = [{ type: 'function' as const, name: 'look', parameters, strict: true }];
    const greedy = { model: 'search-two-hop', tools, temperature: 0, max_output_tokens: 22 };
    const input: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: 'the mayor of the home of situ?' },
    ];
    const first = await openai.responses.create({ ...greedy, input });
    expect(first.output).toMatchObject([
      { type: 'function_call', name: 'look', arguments: '{"query":"home situ"}' },
    ]);
    const streamed = await openai.responses.create({ ...greedy, input, stream: true });
    const done: object[] = [];
    for await (const event of streamed) if (event.type === 'response.output_item.done') done.push(event.item);
    expect(done).toMatchObject([{ type: 'function_call', name: 'look', arguments: '{"query":"home situ"}' }]);

    const [call] = first.output as OpenAI.Responses.ResponseFunctionToolCall[];
    input.push(call!, {
      type: 'function_call_output',
      call_id: call!.call_id,
      output: 'the home of situ is rola.',
    });
    const second = await openai.responses.create({ ...greedy, input });
    expect(second.output).toMatchObject([{ type: 'function_call', arguments: '{"query":"mayor rola"}' }]);
  });
});

describe('completions', () => {
  test('go on from text and from ids alike', async () => {
    const prompt = await promptIds();
    const text = textOf(await readStart(POLICY), POLICY).tokenizer.decode(prompt);
    const settings = { model: 'words@0', temperature: 0, max_tokens: 12, logprobs: 1 } as const;
    const [byText, byIds] = [
      await openai.completions.create({ ...settings, prompt: text }),
      await openai.completions.create({ ...settings, prompt: [...prompt] }),
    ];
    expect(byIds.choices).toEqual(byText.choices);
    const { logprobs, text: said } = byText.choices[0]!;
    expect(said.length).toBeGreaterThan(0);
    expect(logprobs!.token_logprobs).toHaveLength(byText.usage!.completion_tokens);
    expect(logprobs!.text_offset![0]).toBe(0);
  });

  test('several prompts, each with its own completions', async () => {
    const { choices } = await openai.completions.create({
      model: POLICY,
      prompt: ['1 + 1', '2 + 2', '3 + 3'],
      n: 2,
      max_tokens: 3,
    });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe('JSON by a grammar', () => {
  const schema = {
    type: 'object',
    properties: { sum: { type: 'integer' }, sure: { type: 'boolean' } },
    required: ['sum', 'sure'],
    additionalProperties: false,
  };
  const json_schema = { name: 'answer', strict: true, schema };

  test.each(['kernels', 'onnx'])('of a schema, by %s', async (engine) => {
    const { choices } = await ask({
      ...{ n: 6, seed: 2, temperature: 1.5, max_tokens: 60, engine },
      response_format: { type: 'json_schema', json_schema },
    });
    // A number may be as long as the room for it.
    const whole = choices.filter(({ finish_reason: end }) => end === 'stop');
    expect(whole.length).toBeGreaterThan(0);
    for (const { message } of whole) {
      const said = JSON.parse(message.content!);
      expect(Object.keys(said)).toEqual(['sum', 'sure']);
      expect(Number.isInteger(said.sum) && typeof said.sure === 'boolean').toBe(true);
    }
  });

  test('any object, in a stream and in a response of the other API', async () => {
    let text = '';
    for await (const { choices } of await openai.chat.completions.create({
      ...{ model: POLICY, messages: [...QUESTION], max_tokens: 60, seed: 4, stream: true },
      response_format: { type: 'json_object' },
    }))
      text += choices[0]?.delta.content ?? '';
    expect(text.startsWith('{')).toBe(true);
    const answer = await openai.responses.create({
      ...{ model: POLICY, input: 'What is 3 + 4?', max_output_tokens: 60 },
      text: { format: { type: 'json_schema', ...json_schema } },
    });
    expect(answer.output_text).toMatch(/^\{"sum": ?-?\d/);
    expect(answer.text).toEqual({ format: { type: 'json_schema', ...json_schema } });
  });

  test('a schema without an end is refused by name', async () => {
    const endless = { $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' };
    const refused = ask({
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: endless } },
    });
    await expect(refused).rejects.toMatchObject({ status: 422, code: 'serving.schema' });
  });
});

test('tokens in, tokens out', async () => {
  const prompt = await promptIds();
  const response = await fetch(`${scene.mesh.url}/inference/v1/generate`, {
    method: 'POST',
    body: JSON.stringify({
      model: POLICY,
      request_id: 'r',
      token_ids: prompt,
      sampling_params: { max_tokens: 8, n: 2, seed: 3, logprobs: 1, ignore_eos: true },
    }),
  });
  const { choices } = (await response.json()) as {
    choices: {
      token_ids: number[];
      finish_reason: string;
      logprobs: { content: { token: string; logprob: number }[] };
    }[];
  };
  expect(choices).toHaveLength(2);
  for (const { token_ids: ids, logprobs, finish_reason: end } of choices) {
    expect(ids).toHaveLength(8);
    expect(end).toBe('length');
    expect(logprobs.content.map(({ token }) => token)).toEqual(ids.map((id) => `token_id:${id}`));
  }
  const wanted = await scored(prompt, choices[0]!.token_ids);
  choices[0]!.logprobs.content.forEach(({ logprob }, i) => {
    expect(logprob).toBeCloseTo(wanted[i]!, 3);
  });
});

test('the models are listed', async () => {
  const names: string[] = [];
  for await (const { id } of openai.models.list()) names.push(id);
  expect(names).toEqual(expect.arrayContaining(['arithmetic-base', POLICY]));
  const { contextLength } = textOf(await readStart(POLICY), POLICY);
  expect(await openai.models.retrieve(POLICY)).toMatchObject({
    id: POLICY,
    object: 'model',
    max_model_len: contextLength,
  });
});

describe('a policy whose context is larger than the longest sequence of a round', () => {
  const LONG = 'long-context';
  beforeAll(async () => {
    const files = await readStart('arithmetic-base');
    const config = JSON.parse(new TextDecoder().decode(files['config.json']));
    const changed = new TextEncoder().encode(JSON.stringify({ ...config, max_position_embeddings: 6000 }));
    await importPolicy(scene.gateway, LONG, { ...files, 'config.json': changed }, {});
  });
  const long = (more: object) =>
    openai.completions.create({ model: LONG, prompt: '3+4=', seed: 1, return_token_ids: true, ...more } as {
      model: string;
      prompt: string;
    });
  const idsOf = ({ choices }: OpenAI.Completion) => (choices[0] as unknown as WithIds).token_ids;

  test('draws past 4096 tokens where it is asked to, and ends earlier at a stop', async () => {
    expect(await openai.models.retrieve(LONG)).toMatchObject({ max_model_len: 6000 });
    const whole = await long({ max_tokens: 4200, ignore_eos: true });
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'length' });
    expect(idsOf(whole)).toHaveLength(4200);
    expect(whole.usage!.completion_tokens).toBe(4200);
    const short = await long({ max_tokens: 5900 });
    expect(short.choices[0]).toMatchObject({ finish_reason: 'stop' });
    expect(idsOf(whole).slice(0, idsOf(short).length)).toEqual(idsOf(short));
  });

  test('refuses more than there is room for, and ONNX Runtime what its graph was not made for', async () => {
    await expect(long({ max_tokens: 6000 })).rejects.toMatchObject({ status: 422, code: 'policy.too-long' });
    await expect(long({ max_tokens: 5000, engine: 'onnx' })).rejects.toMatchObject({
      ...{ status: 422, code: 'policy.too-long' },
      message: expect.stringMatching(/at most 4096/),
    });
    expect((await long({ max_tokens: 20, engine: 'onnx' })).choices).toHaveLength(1);
  });
});

describe('refused, in the form that the client reads', () => {
  const refusal = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(OpenAI.APIError);
    const { status, code, message } = error as InstanceType<typeof OpenAI.APIError>;
    return { status, code, message };
  };

  test.each([
    ['an unknown model', { model: 'nobody' }, 404, 'model_not_found'],
    ['a set that nobody trained', { model: 'words@0/judge' }, 404, 'model_not_found'],
    ['a version that is not there', { model: 'words@9' }, 404, 'version.missing'],
    ['no name of a model', { model: '../words' }, 422, 'serving.model'],
    ['a prompt that leaves no room', { max_tokens: 4000 }, 422, 'policy.too-long'],
    ['more alternatives than 20', { logprobs: true, top_logprobs: 21 }, 422, 'serving.request'],
    ['alternatives without log-probabilities', { top_logprobs: 1 }, 422, 'serving.request'],
    ['a field that is not supported', { logit_bias: { 1: 1 } }, 422, 'serving.unsupported'],
    [
      'tools where the template knows none',
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      422,
      'renderer.refused',
    ],
    [
      'a token of the template in a message',
      { messages: [{ role: 'user', content: '<|end|>' }] },
      422,
      'renderer.control-token',
    ],
  ])('%s', async (_, change, status, code) => {
    expect(await refusal(ask(change))).toMatchObject({ status, code });
  });

  test('a body that is no JSON, and one that is too large', async () => {
    const post = (body: string) =>
      fetch(`${scene.mesh.url}/v1/chat/completions`, { method: 'POST', body }).then(
        (answer) => answer.status,
      );
    expect(await post('{')).toBe(400);
    expect(await post(JSON.stringify({ model: 'x'.repeat(2 << 20) }))).toBe(413);
  });

  test('an endpoint that is not there', async () => {
    expect(await refusal(openai.embeddings.create({ model: POLICY, input: 'a' }))).toMatchObject({
      status: 404,
    });
  });
});

test('`chat` answers each line of a pipe with what was said before it, and says what is wrong', async () => {
  const chat = async (args: readonly string[], input: string) => {
    const child = spawn(
      process.execPath,
      ['--import', './cli/install/typescript.mjs', 'cli/rollmesh.ts', 'chat', ...args],
      {
        env: {
          ...process.env,
          ROLLMESH_URL: scene.mesh.url,
          LEARNER_TOKEN: scene.mesh.secrets.LEARNER_TOKEN,
        },
      },
    );
    let [out, error] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
    child.stdin.end(input);
    const code = await new Promise((resolve) => child.once('close', resolve));
    return { code, out, error };
  };
  const options = { temperature: 0, max_tokens: 16 };
  const first = { role: 'user' as const, content: 'What is 3 + 4?' };
  const ask = async (messages: OpenAI.Chat.ChatCompletionMessageParam[]) =>
    (await openai.chat.completions.create({ model: 'words@0', messages, ...options })).choices[0]!.message;
  const one = await ask([first]);
  const two = await ask([first, one, { role: 'user', content: 'And 5 + 6?' }]);
  const flags = ['--temperature', '0', '--max-new', '16'];
  const [known, unknown] = await Promise.all([
    chat(['words@0', ...flags], 'What is 3 + 4?\n\nAnd 5 + 6?\n/new\nWhat is 3 + 4?\n'),
    chat(['nobody'], 'Hello\n'),
  ]);
  expect(known).toEqual({
    code: 0,
    out: `${one.content}\n${two.content}\n${one.content}\n`,
    error: '',
  });
  expect(unknown.code).toBe(1);
  expect(unknown.error).toContain('There is no model nobody');
});

test('a page of an origin that is named may ask the models, one of another may not', async () => {
  const ask = (path: string, origin: string, more: RequestInit & { headers?: Record<string, string> } = {}) =>
    fetch(`${scene.mesh.url}${path}`, { ...more, headers: { ...ALONE, origin, ...more.headers } });
  const wanted = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };
  const first = await ask('/v1/chat/completions', PAGE, { method: 'OPTIONS', headers: wanted });
  expect(first.status).toBe(204);
  expect(first.headers.get('access-control-allow-origin')).toBe(PAGE);
  expect(first.headers.get('access-control-allow-headers')).toBe('authorization');
  const models = await ask('/v1/models', PAGE);
  expect([models.status, models.headers.get('access-control-allow-origin')]).toEqual([200, PAGE]);
  // A refusal can be read, too.
  const refused = await ask('/v1/models/none', PAGE);
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([404, PAGE]);
  for (const [path, origin] of [
    ['/v1/models', 'https://other.example'],
    ['/api/runs', PAGE],
    ['/metrics', PAGE],
  ] as const) {
    const foreign = await ask(path, origin);
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  }
});

describe('where a reading token is set', () => {
  let closed: Scene;
  const READ_TOKEN = 'a-token-for-readers'.padEnd(64, '0');
  beforeAll(async () => {
    closed = await openScene({ vars: { READ_TOKEN } });
  });
  afterAll(async () => {
    await closed.mesh.stop();
    rmSync(closed.stateDir, { recursive: true });
  });

  test('only its holder and the learner may ask', async () => {
    const client = (apiKey: string) =>
      new OpenAI({ baseURL: `${closed.mesh.url}/v1`, apiKey, maxRetries: 0 }).completions.create({
        model: 'arithmetic-base',
        prompt: [1],
        max_tokens: 1,
      });
    await expect(client('none')).rejects.toThrow(OpenAI.AuthenticationError);
    await expect(client(closed.mesh.secrets.WEBHOOK_SECRET)).rejects.toThrow(OpenAI.AuthenticationError);
    expect((await client(READ_TOKEN)).choices).toHaveLength(1);
    expect((await client(closed.mesh.secrets.LEARNER_TOKEN)).choices).toHaveLength(1);
  });
});
