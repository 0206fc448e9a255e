/** The Responses API's items as a conversation, and what of them is refused; worked by hand from OpenAI's reference. */
import { expect, test } from 'vitest';
import { chatOrder } from '../../../core/serving/order.ts';
import { responsesOrder } from '../../../core/serving/responses.ts';

const prompts = (body: object) => responsesOrder({ model: 'm', ...body }).prompts;

test('instructions, messages, calls and their results are the messages that a chat completion has', () => {
  const tools = [
    { type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' }, strict: true },
  ];
  const input = [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Who ' },
        { type: 'input_text', text: 'is it?' },
      ],
    },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
    },
    {
      type: 'function_call',
      id: 'fc_1',
      status: 'completed',
      call_id: 'one',
      name: 'look',
      arguments: '{"query":"a"}',
    },
    { type: 'function_call', call_id: 'two', name: 'look', arguments: '{"query":"b"}' },
    { type: 'function_call_output', call_id: 'one', output: 'Ann' },
    { type: 'function_call_output', call_id: 'two', output: [{ type: 'input_text', text: 'Bob' }] },
    { type: 'function_call', call_id: 'three', name: 'look', arguments: '{}' },
  ];
  const call = (id: string, text: string) => ({ id, function: { name: 'look', arguments: text } });
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Who is it?' },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [call('one', '{"query":"a"}'), call('two', '{"query":"b"}')],
    },
    { role: 'tool', content: 'Ann', tool_call_id: 'one' },
    { role: 'tool', content: 'Bob', tool_call_id: 'two' },
    { role: 'assistant', content: '', tool_calls: [call('three', '{}')] },
  ];
  const chat = chatOrder({
    model: 'm',
    messages,
    tools: [
      { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } },
    ],
  });
  expect(prompts({ instructions: 'Be brief.', input, tools })).toEqual(chat.prompts);
});

test('the format of the text is read as that of a chat, and repeated as it was sent', () => {
  const order = (format: object) => responsesOrder({ model: 'm', input: 'a', text: { format } });
  expect(order({ type: 'text' }).form).toBeUndefined();
  expect(order({ type: 'json_object' }).form).toBe('object');
  const schema = { type: 'object', properties: { a: { type: 'null' } } };
  const format = { type: 'json_schema', name: 'b', strict: true, schema };
  expect(order(format).form).toEqual({ schema });
  expect(order(format).repeated).toMatchObject({ text: { format } });
  expect(() => order({ type: 'json_schema', name: 'b' })).toThrow('no schema');
});

test.each([
  [{ input: 'a', response_format: { type: 'json_object' } }, 'response_format'],
  [{ input: 'a', prompt_logprobs: 0 }, 'prompt_logprobs'],
  [{ input: 'a', max_completion_tokens: 5 }, 'max_completion_tokens'],
  [{ input: 'a', logprobs: true }, 'logprobs'],
  [{ input: [] }, 'input'],
  [{ input: [{ type: 'item_reference', id: 'a' }] }, 'input.0'],
  [{ input: [{ type: 'reasoning', summary: [] }] }, 'input.0'],
  [{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'a' }] }] }, 'input.0'],
  [{ input: [{ role: 'clown', content: 'a' }] }, 'input.0'],
  [{ input: 'a', tools: [{ type: 'web_search' }] }, 'A tool of type "web_search"'],
  [{ input: 'a', n: 2 }, 'n = 2'],
  [{ input: 'a', messages: [] }, 'messages'],
  [{ input: 'a', include: ['file_search_call.results'] }, 'include: file_search_call.results'],
  [{ input: 'a', text: { verbosity: 'low' } }, 'text: verbosity'],
])('%j is refused by its name', (body, name) => {
  expect(() => prompts(body)).toThrow(name);
});
