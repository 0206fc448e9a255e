/** Conversations as files of other tools have them. */
import { expect, test } from 'vitest';
import { findChecker } from '../../../core/checkers/registry.ts';
import { readMessages } from '../../../worlds/file/messages.ts';
import { readConversations, readPairs } from '../../../worlds/file/read-examples.ts';
import { readTasks } from '../../../worlds/file/read-tasks.ts';

const bytes = (...rows: readonly object[]) =>
  new TextEncoder().encode(rows.map((row) => JSON.stringify(row)).join('\n'));
const conversations = (...rows: readonly object[]) => readConversations('c.jsonl', bytes(...rows));

const call = (given: unknown) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: given } }],
});

test('a field that is null is as one that is not there, and arguments are the same as text and as object', () => {
  const asked = [{ role: 'user', content: 'a', name: null, tool_calls: null }];
  expect(readMessages(asked, 'messages')).toEqual([{ role: 'user', content: 'a' }]);
  expect(readMessages([call('{"a": 2}')], 'messages')).toEqual(readMessages([call({ a: 2 })], 'messages'));
  expect(readMessages([call('no JSON')], 'messages')[0]?.tool_calls?.[0]?.function.arguments).toBe('no JSON');
});

test('ShareGPT, parts of content and the role developer are read', () => {
  expect(
    readMessages(
      [
        { from: 'system', value: 's' },
        { from: 'human', value: 'a' },
        { from: 'gpt', value: 'b' },
      ],
      'conversations',
    ),
  ).toEqual([
    { role: 'system', content: 's' },
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ]);
  const parts = [
    { type: 'text', text: 'a ' },
    { type: 'text', text: 'b' },
  ];
  expect(readMessages([{ role: 'developer', content: parts }], 'messages')).toEqual([
    { role: 'system', content: 'a b' },
  ]);
  expect(() => readMessages([{ role: 'user', content: [{ type: 'image_url' }] }], 'messages')).toThrow(
    /0\.content\.0: a part of type "image_url" is not heeded/,
  );
});

test('a conversation as the JSON text of its messages is read as the list is', async () => {
  const said = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const asText = JSON.stringify(said);
  expect(await conversations({ messages: asText })).toEqual(await conversations({ messages: said }));
  expect(await conversations({ prompt: JSON.stringify(said.slice(0, 1)), completion: 'b' })).toEqual(
    await conversations({ prompt: said.slice(0, 1), completion: 'b' }),
  );
  const pair = (chosen: unknown) =>
    readPairs('p.jsonl', bytes({ chosen, rejected: [said[0]!, { ...said[1]!, content: 'c' }] }));
  expect(await pair(asText)).toEqual(await pair(said));
  const asked = (messages: unknown) =>
    readTasks('t.jsonl', bytes({ messages, answer: '1' }), { checker: findChecker('exact') });
  expect(await asked(JSON.stringify(said.slice(0, 1)))).toEqual(await asked(said.slice(0, 1)));
  // Other JSON is a text that the user says.
  const [list] = await conversations({ prompt: '[{"n": 1}]', completion: 'b' });
  expect(list!.messages).toEqual([{ role: 'user', content: '[{"n": 1}]' }]);
});

test('an empty list of accepted answers is a fault of its line, where a list is no answer itself', async () => {
  const asked = (checker: string) =>
    readTasks('t.jsonl', bytes({ question: 'q', answer: [] }), { checker: findChecker(checker) });
  await expect(asked('exact')).rejects.toThrow(/line 1: its answer is an empty list/);
  expect(await asked('set')).toHaveLength(1);
});

test('a field that would change what is learned is heeded or refused by its name', async () => {
  for (const field of ['function_call', 'train', 'thinking', 'audio'])
    expect(() => readMessages([{ role: 'user', content: 'a', [field]: 1 }], 'messages')).toThrow(
      new RegExp(`0\\.${field}: this field is not heeded`),
    );
  const asked = { role: 'user', content: 'a' };
  const [row] = await conversations({
    messages: [
      asked,
      { role: 'assistant', content: 'b', weight: 0, reasoning_content: 'c' },
      asked,
      call({}),
    ],
    tools: [{ type: 'function', function: { name: 'add' } }],
  });
  expect(row?.messages[1]).toEqual({ role: 'assistant', content: 'b', weight: 0, reasoning_content: 'c' });
  expect(row?.metadata).toMatchObject({
    tools: [{ function: { name: 'add' } }],
    answered: { tool_calls: [{ function: { name: 'add', arguments: {} } }] },
  });
  await expect(
    conversations({ messages: [asked, { role: 'assistant', content: 'b', weight: 0 }] }),
  ).rejects.toThrow(/every answer in it has weight 0/);
  await expect(
    conversations({ messages: [asked, { role: 'assistant', content: 'b', weight: 2 }] }),
  ).rejects.toThrow(/1\.weight/);
});

test('Alpaca’s rows are a question and an answer', async () => {
  const [plain, more] = await conversations(
    { instruction: 'Add.', input: '', output: '4' },
    { instruction: 'Add.', input: '2 and 2', output: '4' },
  );
  expect(plain).toMatchObject({ messages: [{ role: 'user', content: 'Add.' }], answer: '4' });
  expect(more).toMatchObject({ messages: [{ role: 'user', content: 'Add.\n\n2 and 2' }], answer: '4' });
});

test('pairs may repeat the conversation in both answers, which have to begin alike', async () => {
  const whole = (question: string, answer: string) => [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ];
  const [pair] = await readPairs(
    'p.jsonl',
    bytes({ prompt: 'a', chosen: whole('a', '1'), rejected: whole('a', '2') }),
  );
  expect(pair).toMatchObject({ messages: [{ content: 'a' }], answer: '1', metadata: { rejected: '2' } });
  await expect(
    readPairs('p.jsonl', bytes({ chosen: whole('a', '1'), rejected: whole('b', '2') })),
  ).rejects.toThrow(/begin differently/);
  await expect(
    readPairs('p.jsonl', bytes({ prompt: 'c', chosen: whole('a', '1'), rejected: whole('a', '2') })),
  ).rejects.toThrow(/another prompt than the row has/);
});

test('any answer of a list is right, an index is an option, and a field may stand inside others', async () => {
  const tasks = (checker: string, row: object, fields = {}) =>
    readTasks('t.jsonl', bytes(row), { checker: findChecker(checker), fields });
  const says = async (checker: string, row: object, given: string, fields = {}) => {
    const [task] = await tasks(checker, row, fields);
    const said = findChecker(checker).prepare(task!)(given);
    return said.ok && said.value;
  };
  const planet = { question: 'Largest?', answer: ['Jupiter', 'The planet Jupiter'] };
  for (const given of ['Jupiter', 'The planet Jupiter'])
    expect(await says('exact', planet, given)).toBe(true);
  expect(await says('exact', planet, JSON.stringify(planet.answer))).toBe(false);
  expect(await says('set', { question: 'q', answer: ['a', 'b'] }, 'b, a')).toBe(true);
  const options = { question: 'q', choices: ['1', '2', '3', '4'] };
  expect(await says('choice', { ...options, answer: 3 }, 'D')).toBe(true);
  expect(await says('choice', { ...options, answer: '3' }, 'C')).toBe(true);
  expect(
    await says('exact', { question: 'q', answer: { value: 'a' } }, 'a', { answer: 'answer.value' }),
  ).toBe(true);
});

test('lines whose reference the checker cannot read are left out where that is asked for', async () => {
  const rows = bytes(
    { question: 'a', answer: '1' },
    { question: 'b', answer: '\\unknowncommand' },
    { question: 'c', answer: '3' },
  );
  const checker = findChecker('math');
  await expect(readTasks('t.jsonl', rows, { checker })).rejects.toThrow(/line 2/);
  const leftOut: number[] = [];
  const tasks = await readTasks('t.jsonl', rows, { checker, leaveOut: ({ line }) => leftOut.push(line) });
  expect(tasks.map(({ line }) => line)).toEqual([1, 3]);
  expect(leftOut).toEqual([2]);
  // Another fault is one still.
  const other = bytes({ question: 'a', answer: '1' }, { answer: '2' });
  await expect(readTasks('t.jsonl', other, { checker, leaveOut: () => {} })).rejects.toThrow(
    /line 2: it has neither/,
  );
});

test('cells of CSV are the texts that stand there', async () => {
  const text = 'question,answer,choices\n"[3, 1, 2]","[1, 2]","[""a"", ""b""]"\n';
  const [task] = await readTasks('t.csv', new TextEncoder().encode(text), { checker: findChecker('exact') });
  expect(task).toMatchObject({
    messages: [{ content: '[3, 1, 2]' }],
    answer: '[1, 2]',
    metadata: { choices: ['a', 'b'] },
  });
});
