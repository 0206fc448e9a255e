/** Conversations as files of other tools have them. */
import { expect, test } from 'vitest';
import { findChecker } from '../../../core/checkers/registry.ts';
import { readMessages } from '../../../worlds/file/messages.ts';
import { readConversations, readPairs, readRated } from '../../../worlds/file/read-examples.ts';
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

test('columns that other trainers take as a part of the prompt or of the loss are refused by name', async () => {
  const said = { instruction: 'a', input: '', output: 'b' };
  const pair = { prompt: 'a', chosen: 'b', rejected: 'c' };
  const columns = {
    history: [['x', 'y']],
    context: 'c',
    system_prompt: 's',
    functions: [{ name: 'f' }],
    chat_template_kwargs: { enable_thinking: false },
    loss_mask: [0, 1],
    weight: 0,
  };
  const plain = await conversations(said);
  for (const [column, value] of Object.entries(columns)) {
    await expect(conversations({ ...said, [column]: value })).rejects.toThrow(`"${column}" is not heeded`);
    await expect(readPairs('p.jsonl', bytes({ ...pair, [column]: value }))).rejects.toThrow(column);
    expect(await conversations({ ...said, [column]: null })).toEqual(plain);
  }
  expect(await conversations({ ...said, history: [], id: 7, source: 'web', documents: ['d'] })).toEqual(
    plain,
  );
  // What says no more than a row without the column.
  for (const none of [{ history: '[]' }, { chat_template_kwargs: {} }, { weight: 1 }, { weights: '1.0' }])
    expect(await conversations({ ...said, ...none })).toEqual(plain);
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const settings = { checker: findChecker('exact') };
  const task = { question: 'a', answer: 'b' };
  for (const listed of [tools, JSON.stringify(tools)])
    await expect(readTasks('t.jsonl', bytes({ ...task, tools: listed }), settings)).rejects.toThrow(
      /"tools" are not shown/,
    );
  expect(await readTasks('t.jsonl', bytes({ ...task, tools: '[]' }), settings)).toHaveLength(1);
});

test('the answers of a pair may be messages, with a system’s message of the row’s own', async () => {
  const [user, good, bad] = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'assistant', content: 'c' },
  ];
  const read = (row: object) => readPairs('p.jsonl', bytes(row));
  const expected = await read({ prompt: 'a', chosen: 'b', rejected: 'c' });
  expect(expected[0]).toMatchObject({ messages: [user], answer: 'b', metadata: { rejected: 'c' } });
  expect(await read({ prompt: 'a', chosen: good, rejected: bad })).toEqual(expected);
  const conversation = [{ from: 'human', value: 'a' }];
  const answers = { chosen: { from: 'gpt', value: 'b' }, rejected: { from: 'gpt', value: 'c' } };
  expect(await read({ conversations: conversation, ...answers })).toEqual(expected);
  const completed = { prompt: 'a', system: 's', completion: [user, good] };
  expect((await conversations(completed))[0]!.messages).toEqual([{ role: 'system', content: 's' }, user]);
  const whole = { system: 's', chosen: [user, good], rejected: [user, bad] };
  expect((await read(whole))[0]!.messages).toEqual([{ role: 'system', content: 's' }, user]);
});

test('numbers are answers to learn from, and labels are read as other programs write them', async () => {
  expect((await conversations({ question: 'a', answer: 4 }))[0]!.answer).toBe('4');
  const labels = ['True', 'false', ' 1 ', false].map((label) => ({ prompt: 'a', completion: 'b', label }));
  const read = await readRated('r.jsonl', bytes(...labels));
  expect(read.map(({ metadata }) => metadata.label)).toEqual([1, 0, 1, 0]);
  await expect(readRated('r.jsonl', bytes({ ...labels[0], label: 'maybe' }))).rejects.toThrow(/"maybe"/);
});

test('an object is no answer, nor is a list that has one in it', async () => {
  const read = (answer: unknown, checker = 'exact', fields = {}) =>
    readTasks('t.jsonl', bytes({ question: 'a', answer }), { checker: findChecker(checker), fields });
  const wiki = { value: 'Jupiter', aliases: ['Planet Jupiter'] };
  await expect(read(wiki)).rejects.toThrow(/fields value, aliases; --fields answer=answer\.FIELD/);
  expect((await read(wiki, 'exact', { answer: 'answer.value' }))[0]!.answer).toBe('Jupiter');
  for (const list of [['a', null], [{ text: 'a' }]])
    await expect(read(list)).rejects.toThrow(/no text and no number/);
  // Rows of a matrix, and the elements of a set.
  expect(
    (
      await read(
        [
          [1, 2],
          [3, 4],
        ],
        'math',
      )
    )[0]!.answer,
  ).toBe('[[1,2],[3,4]]');
  expect((await read(['a', 'b'], 'set'))[0]!.answer).toBe('["a","b"]');
  // A checker that reads no answer.
  const tested = { question: 'a', answer: wiki, tests: ['assert True'] };
  expect(await readTasks('t.jsonl', bytes(tested), { checker: findChecker('python') })).toHaveLength(1);
});
