/**
 * Every field of OpenAI's three requests, by the types of its own client: heeded, without an effect on the answer, or refused by name. A field that
 * a later release of the client has is missing here, and the types do not check.
 */
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { CompletionCreateParams } from 'openai/resources/completions';
import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { describe, expect, test } from 'vitest';
import { chatOrder, completionOrder } from '../../../core/serving/order.ts';
import { responsesOrder } from '../../../core/serving/responses.ts';

/** `as`: a value of the field that asks for something else than what is done without it. */
type Fate =
  | { readonly is: 'heeded' | 'no effect' | 'refused'; readonly as: unknown }
  | { readonly is: 'needed' };
const heeded = (as: unknown): Fate => ({ is: 'heeded', as });
const noEffect = (as: unknown): Fate => ({ is: 'no effect', as });
const refused = (as: unknown): Fate => ({ is: 'refused', as });
const needed: Fate = { is: 'needed' };

const TOOL = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } };

const CHAT: Record<keyof ChatCompletionCreateParams, Fate> = {
  messages: needed,
  model: needed,
  audio: refused({ voice: 'a', format: 'wav' }),
  frequency_penalty: refused(0.5),
  function_call: refused('auto'),
  functions: refused([{ name: 'add' }]),
  logit_bias: refused({ 5: 1 }),
  logprobs: heeded(true),
  max_completion_tokens: heeded(7),
  max_tokens: heeded(7),
  metadata: noEffect({ a: 'b' }),
  modalities: refused(['text', 'audio']),
  moderation: refused({ model: 'm' }),
  n: heeded(2),
  // Beside `tools` it is refused, see below.
  parallel_tool_calls: noEffect(false),
  prediction: refused({ type: 'content', content: 'a' }),
  presence_penalty: refused(0.5),
  prompt_cache_key: noEffect('a'),
  prompt_cache_options: noEffect({ a: 1 }),
  prompt_cache_retention: noEffect('24h'),
  reasoning_effort: refused('low'),
  response_format: heeded({ type: 'json_object' }),
  safety_identifier: noEffect('a'),
  seed: heeded(3),
  service_tier: noEffect('flex'),
  stop: heeded('END'),
  store: noEffect(true),
  stream: heeded(true),
  stream_options: heeded({ include_usage: true }),
  temperature: heeded(0.5),
  // Without `tools` there is nothing to choose.
  tool_choice: noEffect('none'),
  tools: heeded([TOOL]),
  // Without `logprobs` there is no list to add them to.
  top_logprobs: refused(2),
  top_p: heeded(0.5),
  user: noEffect('a'),
  verbosity: refused('low'),
  web_search_options: refused({ search_context_size: 'low' }),
};

const COMPLETIONS: Record<keyof CompletionCreateParams, Fate> = {
  model: needed,
  prompt: needed,
  best_of: refused(3),
  echo: heeded(true),
  frequency_penalty: refused(0.5),
  logit_bias: refused({ 5: 1 }),
  logprobs: heeded(2),
  max_tokens: heeded(7),
  n: heeded(2),
  presence_penalty: refused(0.5),
  seed: heeded(3),
  stop: heeded(['END', '\n']),
  stream: heeded(true),
  stream_options: heeded({ include_usage: true }),
  suffix: refused('b'),
  temperature: heeded(0.5),
  top_p: heeded(0.5),
  user: noEffect('a'),
};

const RESPONSES: Record<keyof ResponseCreateParams, Fate> = {
  input: needed,
  model: needed,
  access_programs: refused({ a: 1 }),
  background: refused(true),
  context_management: refused([{ type: 'compaction' }]),
  conversation: refused('conv_1'),
  image: refused({ a: 1 }),
  include: heeded(['message.output_text.logprobs']),
  instructions: heeded('Be brief.'),
  max_output_tokens: heeded(7),
  max_tool_calls: refused(1),
  metadata: noEffect({ a: 'b' }),
  moderation: refused({ model: 'm' }),
  parallel_tool_calls: noEffect(false),
  previous_response_id: refused('resp_1'),
  prompt: refused({ id: 'p' }),
  prompt_cache_key: noEffect('a'),
  prompt_cache_options: noEffect({ a: 1 }),
  prompt_cache_retention: noEffect('24h'),
  reasoning: refused({ effort: 'low' }),
  safety_identifier: noEffect('a'),
  service_tier: noEffect('flex'),
  store: noEffect(true),
  stream: heeded(true),
  stream_options: noEffect({ include_obfuscation: false }),
  temperature: heeded(0.5),
  text: heeded({ format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } }),
  tool_choice: noEffect('none'),
  tools: heeded([{ type: 'function', name: 'add', parameters: { type: 'object' }, strict: true }]),
  top_logprobs: heeded(2),
  top_p: heeded(0.5),
  truncation: refused('auto'),
  user: noEffect('a'),
};

/** What is asked, without the fields that the answer repeats. */
function responseAsked(body: unknown): object {
  const { repeated: _, ...order } = responsesOrder(body);
  return order;
}

describe.each([
  ['responses', RESPONSES, responseAsked, { model: 'm', input: 'a' }],
  ['chat', CHAT, chatOrder, { model: 'm', messages: [{ role: 'user', content: 'a' }] }],
  ['completions', COMPLETIONS, completionOrder, { model: 'm', prompt: 'a' }],
] as const)('%s', (_, fields, order, plain) => {
  test.each(Object.entries<Fate>(fields))('%s', (field, fate) => {
    if (fate.is === 'needed') {
      expect(() => order({ ...plain, [field]: undefined })).toThrow(field);
      return;
    }
    const asked = { ...plain, [field]: fate.as };
    if (fate.is === 'refused') expect(() => order(asked)).toThrow(field);
    else if (fate.is === 'heeded') expect(order(asked)).not.toEqual(order(plain));
    else expect(order(asked)).toEqual(order(plain));
    // A client that names every field sends null for what it does not want.
    expect(order({ ...plain, [field]: null })).toEqual(order(plain));
  });
});

test('one call at a time is refused where several could be made', () => {
  const asked = { model: 'm', messages: [{ role: 'user', content: 'a' }], tools: [TOOL] };
  expect(() => chatOrder({ ...asked, parallel_tool_calls: false })).toThrow('parallel_tool_calls');
  expect(chatOrder({ ...asked, parallel_tool_calls: true })).toEqual(chatOrder(asked));
});

test('an option of streams that is not heeded is refused', () => {
  for (const [order, asked] of [
    [completionOrder, { model: 'm', prompt: 'a', stream: true }],
    [chatOrder, { model: 'm', messages: [{ role: 'user', content: 'a' }], stream: true }],
  ] as const) {
    expect(() => order({ ...asked, stream_options: { continuous_usage_stats: true } })).toThrow(
      'stream_options: continuous_usage_stats',
    );
    expect(order({ ...asked, stream_options: { include_obfuscation: false } })).toEqual(order(asked));
  }
});
