import { describe, expect, test } from 'vitest';
import {
  chatOrder,
  completionOrder,
  modelOf,
  type ServingOrder,
  tokensOrder,
} from '../../../core/serving/order.ts';

const USER = { role: 'user', content: 'What is 2 + 3?' };
const chat = (more: object = {}) => chatOrder({ model: 'words', messages: [USER], ...more });
const completion = (more: object = {}) => completionOrder({ model: 'words', prompt: 'Once', ...more });
const tokens = (params: object = {}, more: object = {}) =>
  tokensOrder({ model: 'words', token_ids: [1, 2], sampling_params: params, ...more });

describe('what a request leaves out', () => {
  test('is what OpenAI documents', () => {
    expect(chat()).toMatchObject({
      samples: 1,
      temperature: 1,
      topP: 1,
      topK: 0,
      maxNew: undefined,
      stopStrings: [],
      seed: undefined,
      stream: false,
      logprobs: false,
    });
    expect(completion().maxNew).toBe(16);
  });

  test('null means left out', () => {
    const nothing = {
      temperature: null,
      top_p: null,
      n: null,
      stop: null,
      seed: null,
      stream: null,
      tools: null,
    };
    expect(chat(nothing)).toEqual(chat());
  });
});

describe('messages', () => {
  test('only a message of the assistant may be without a text', () => {
    for (const role of ['user', 'system', 'developer', 'tool'])
      for (const message of [{ role }, { role, content: null }])
        expect(() => chatOrder({ model: 'words', messages: [message] })).toThrow(/messages\.0\.content/);
    const messages = [
      { role: 'user', content: '' },
      { role: 'assistant', content: null },
    ];
    expect(chatOrder({ model: 'words', messages }).prompts).toHaveLength(1);
  });

  test('parts of text are joined, developer is system, and a call is read', () => {
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '3' },
    ];
    const [prompt] = chatOrder({ model: 'words', messages }).prompts;
    expect(prompt).toEqual({
      kind: 'messages',
      tools: undefined,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'ab' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ type: 'function', function: { name: 'add', arguments: { a: 1 } } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '3' },
      ],
    });
  });

  test('tools that may not be called are left out of the prompt', () => {
    const tools = [{ type: 'function', function: { name: 'add', parameters: {} } }];
    expect(chat({ tools }).prompts[0]).toMatchObject({ tools });
    expect(chat({ tools, tool_choice: 'none' }).prompts[0]).toMatchObject({ tools: undefined });
  });
});

test('a completion may go on from texts, from ids, or from several of either', () => {
  const kinds = (prompt: unknown) => completion({ prompt }).prompts;
  expect(kinds('a')).toEqual([{ kind: 'text', text: 'a' }]);
  expect(kinds([5, 6])).toEqual([{ kind: 'ids', ids: [5, 6] }]);
  expect(kinds(['a', 'b'])).toHaveLength(2);
  expect(kinds([[5], [6, 7]])).toEqual([
    { kind: 'ids', ids: [5] },
    { kind: 'ids', ids: [6, 7] },
  ]);
});

test('more tokens than any policy has positions for are asked of the policy, and not refused here', () => {
  const most = { max_tokens: 100_000 };
  expect([chat(most), completion(most), tokens(most)].map(({ maxNew }) => maxNew)).toEqual(
    new Array(3).fill(100_000),
  );
  const ids = new Array(5000).fill(7);
  expect(completion({ prompt: ids }).prompts).toEqual([{ kind: 'ids', ids }]);
});

test('tokens in, tokens out: top_k of -1 is off, as in vLLM', () => {
  expect(tokens({ top_k: -1, max_tokens: 4, logprobs: 0, ignore_eos: true })).toMatchObject({
    prompts: [{ kind: 'ids', ids: [1, 2] }],
    topK: 0,
    maxNew: 4,
    logprobs: true,
    ignoreEnds: true,
    tokensAsIds: true,
  });
});

test('log-probabilities are told of the drawn tokens alone, or of the most likely ones, too', () => {
  const told = ({ logprobs, alternatives }: ServingOrder) => [logprobs, alternatives];
  expect(told(chat())).toEqual([false, 0]);
  expect(told(chat({ logprobs: true }))).toEqual([true, 0]);
  expect(told(chat({ logprobs: true, top_logprobs: 20 }))).toEqual([true, 20]);
  expect(told(completion({}))).toEqual([false, 0]);
  expect(told(completion({ logprobs: 0 }))).toEqual([true, 0]);
  expect(told(completion({ logprobs: true }))).toEqual([true, 0]);
  expect(told(completion({ logprobs: 3 }))).toEqual([true, 3]);
  // What trainers send along with every request.
  expect(told(tokens({ logprobs: 1 }))).toEqual([true, 0]);
});

describe('refused', () => {
  test.each([
    ['messages', () => chatOrder({ model: 'words' })],
    ['messages', () => chat({ messages: [] })],
    ['messages.0.role', () => chat({ messages: [{ role: 'robot', content: '' }] })],
    ['messages.0.content', () => chat({ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] })],
    ['temperature', () => chat({ temperature: -1 })],
    ['top_p', () => chat({ top_p: 0 })],
    ['n', () => chat({ n: 65 })],
    ['stop', () => chat({ stop: [''] })],
    ['stop', () => chat({ stop: 'x'.repeat(65) })],
    ['seed', () => chat({ seed: 1.5 })],
    ['max_tokens', () => completion({ max_tokens: 0 })],
    ['prompt', () => completion({ prompt: [[]] })],
    ['token_ids', () => tokensOrder({ model: 'words', token_ids: [-1], sampling_params: {} })],
    ['top_logprobs', () => chat({ logprobs: true, top_logprobs: 21 })],
    ['top_logprobs', () => chat({ logprobs: true, top_logprobs: 1.5 })],
    ['top_logprobs: 2 without logprobs', () => chat({ top_logprobs: 2 })],
    ['logprobs', () => completion({ logprobs: 21 })],
    ['logprobs', () => completion({ logprobs: -1 })],
    ['completions of 9 prompts', () => completion({ prompt: Array(9).fill('a'), n: 8 })],
  ])('%s', (path, order) => {
    expect(order).toThrow(expect.objectContaining({ code: 'serving.request' }));
    expect(order).toThrow(path);
  });

  test.each([
    ['frequency_penalty', () => chat({ frequency_penalty: 0.5 })],
    ['presence_penalty', () => chat({ presence_penalty: 0.5 })],
    ['min_p', () => tokens({ min_p: 0.1 })],
    ['repetition_penalty', () => tokens({ repetition_penalty: 1.1 })],
    ['logit_bias', () => chat({ logit_bias: { 5: 1 } })],
    ['response_format', () => chat({ response_format: { type: 'grammar' } })],
    ['guided_regex', () => chat({ guided_regex: 'a+' })],
    ['guided_grammar', () => completion({ guided_grammar: 'root ::= "a"' })],
    ['structured_outputs', () => chat({ structured_outputs: { choice: ['a'] } })],
    ['extra_body', () => chat({ extra_body: { guided_choice: ['a'] } })],
    ['min_tokens', () => tokens({ min_tokens: 3 })],
    ['bad_words', () => chat({ bad_words: ['a'] })],
    ['functions', () => chat({ functions: [{ name: 'f' }] })],
    [
      'tool_choice',
      () => chat({ tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' }),
    ],
    ['echo in a stream', () => completion({ echo: true, stream: true })],
    ['prompt_logprobs in a stream', () => chat({ prompt_logprobs: 1, stream: true })],
    ['suffix', () => completion({ suffix: 'end' })],
    ['best_of', () => completion({ best_of: 3 })],
    ['logprobs', () => tokens({ logprobs: 5 })],
    ['stream', () => tokens({}, { stream: true })],
  ])('what would change the answer and is not supported: %s', (field, order) => {
    expect(order).toThrow(expect.objectContaining({ code: 'serving.unsupported' }));
    expect(order).toThrow(field);
  });

  test('neutral values of what is not supported are accepted', () => {
    const neutral = {
      guided_json: null,
      min_tokens: 0,
      bad_words: [],
      use_beam_search: false,
      frequency_penalty: 0,
      presence_penalty: 0,
      logit_bias: {},
      response_format: { type: 'text' },
    };
    expect(chat({ ...neutral, top_logprobs: 0 })).toEqual(chat());
  });
});

describe('the name of a model', () => {
  test.each([
    ['words', { name: 'words', version: undefined, set: undefined }],
    ['words@0', { name: 'words', version: 0, set: undefined }],
    ['my.run-1@12/judge', { name: 'my.run-1', version: 12, set: 'judge' }],
  ])('%s', (model, parts) => {
    expect(modelOf(model)).toEqual(parts);
  });

  test.each([
    '',
    'Words',
    'words@',
    'words@01',
    'words@-1',
    '../words',
    'words@1/../x',
    'words@1/optimizer',
    'words/model',
    'words/-',
  ])('not %j', (model) => {
    expect(() => modelOf(model)).toThrow(expect.objectContaining({ code: 'serving.model' }));
  });
});

describe('values without measure', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  const call = (given: unknown) => ({
    messages: [
      { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: JSON.stringify(given) } }] },
      USER,
    ],
  });
  const offer = (given: unknown) => ({
    tools: [{ type: 'function', function: { name: 'f', parameters: { given } } }],
  });

  test('what a chat template would go through by recursion is refused by its depth', () => {
    for (const more of [call, offer]) {
      expect(() => chat(more(nested(90)))).not.toThrow();
      expect(() => chat(more(nested(101)))).toThrow(expect.objectContaining({ code: 'serving.request' }));
    }
    // JSON.stringify goes through the levels by recursion, so this text is put together.
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(() => chat(JSON.parse(JSON.stringify(call(0)).replace('"0"', JSON.stringify(deep))))).toThrow(
      expect.objectContaining({ code: 'serving.request' }),
    );
    expect(() => chat(JSON.parse(JSON.stringify(offer(0)).replace('"given":0', `"given":${deep}`)))).toThrow(
      expect.objectContaining({ code: 'serving.request' }),
    );
  });
});

test('how ids are written as text is no matter where ids are answered, and a field that is not heeded is refused', () => {
  for (const skip_special_tokens of [true, false])
    expect(tokens({ max_tokens: 3, skip_special_tokens, detokenize: false }).maxNew).toBe(3);
  expect(() => tokens({ min_tokens: 2 })).toThrow(/sampling_params: min_tokens is not supported/);
});
