import { readFileSync } from 'node:fs';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { findChecker } from '../../../core/checkers/registry.ts';
import { listProgram } from '../../../worlds/file/list-program-checker.ts';
import { readTasks, type TaskFileSettings } from '../../../worlds/file/read-tasks.ts';
import { questionKey } from '../../../worlds/file/task.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const settings = (more: Partial<TaskFileSettings> = {}): TaskFileSettings => ({
  checker: findChecker('auto'),
  ...more,
});
const jsonl = (lines: readonly unknown[], more: Partial<TaskFileSettings> = {}) =>
  readTasks(
    't.jsonl',
    utf8(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')),
    settings(more),
  );

test('a task of the arithmetic family is its own question, and the oracle answers it', async () => {
  const [task] = await jsonl([{ task: '3+4-9' }]);
  expect(task).toMatchObject({ messages: [{ role: 'user', content: '3+4-9' }], answer: '-2' });
  await expect(jsonl([{ task: '3 + 4' }])).rejects.toThrow(
    /line 1: its task is "3 \+ 4", which is not 2 to 6 digits/,
  );
});

test('a line is a question or a conversation, with its answer and metadata', async () => {
  const tasks = await jsonl([
    { question: '3 + 4?', answer: 7, metadata: { terms: 2 }, source: 'own' },
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Red?' },
      ],
      answer: 'no',
    },
  ]);
  expect(tasks).toEqual([
    {
      messages: [{ role: 'user', content: '3 + 4?' }],
      answer: '7',
      metadata: { terms: 2, source: 'own' },
      difficulty: null,
      file: 't.jsonl',
      line: 1,
    },
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Red?' },
      ],
      answer: 'no',
      metadata: {},
      difficulty: null,
      file: 't.jsonl',
      line: 2,
    },
  ]);
});

test('what is said beside a call of a tool may be null, and calls tell questions apart', async () => {
  const call = (city: string) => ({ type: 'function', function: { name: 'weather', arguments: { city } } });
  const row = (city: string) => ({
    messages: [
      { role: 'user', content: 'Is it warm?' },
      { role: 'assistant', content: null, tool_calls: [call(city)] },
      { role: 'tool', content: '30' },
    ],
    answer: 'yes',
  });
  const tasks = await jsonl([row('Rome'), row('Oslo'), row('Rome')]);
  expect(tasks[0]!.messages[1]!.content).toBe('');
  const [rome, oslo, again] = tasks.map(questionKey);
  expect([rome === again, rome === oslo]).toEqual([true, false]);
  for (const said of [{ role: 'user' }, { role: 'user', content: null }])
    await expect(jsonl([{ messages: [said], answer: '1' }])).rejects.toThrow(/0\.content/);
});

test('a number with more digits than a double keeps stays what it is', async () => {
  // What other programs write of a double, such as a third, is that double.
  const metadata = { n: 3, third: 0.3333333333333333, sum: 0.30000000000000004 };
  const line = (answer: string) =>
    `{"question": "a", "answer": ${answer}, "metadata": ${JSON.stringify(metadata)}}`;
  const texts = [
    '12345678901234567890',
    '-12345678901234567',
    '0.12345678901234567',
    '1.5',
    '9007199254740991',
  ];
  const tasks = await readTasks('t.jsonl', utf8(texts.map(line).join('\n')), settings());
  expect(tasks.map(({ answer }) => answer)).toEqual(texts);
  expect(tasks[0]!.metadata).toEqual(metadata);
});

test('fields of other names, a system’s message, GSM8K’s answers and a difficulty', async () => {
  const row = { problem: '2 × 3?', solution: '2 × 3 = 6\n#### 6', level: '4' };
  const [task] = await jsonl([row], {
    fields: { question: 'problem', answer: 'solution' },
    system: 'Be brief.',
    reference: ['hashes'],
    difficulty: 'level',
  });
  expect(task).toMatchObject({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '2 × 3?' },
    ],
    answer: '6',
    difficulty: 4,
  });
});

test('every wrong line is reported with its number, and nothing is read', async () => {
  const conversation = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const faults = [
    ['not json', 'it is not JSON ('],
    ['', 'it is empty'],
    [[1], 'it is no JSON object'],
    [{ answer: '1' }, 'it has neither "question" nor "messages"; its fields are answer'],
    [{ question: 'a', messages: [] }, 'it has both'],
    [{ question: ' ', answer: '1' }, 'its question is no text'],
    [{ messages: conversation, answer: '1' }, 'its last message is the assistant’s'],
    [{ messages: [{ role: 'robot', content: 'a' }], answer: '1' }, 'its messages: 0.role:'],
    [{ question: 'a', answer: '1', metadata: 3 }, 'its metadata is no object'],
    [
      { question: 'b', answer: 'plenty' },
      'The checker "number" cannot use this answer: "plenty" is not read as a number (no-number); expected a number',
    ],
  ] as const;
  const right = { question: 'a', answer: '1' };
  for (const [line, what] of faults) {
    const error = await jsonl([right, line, right], { checker: findChecker('number') }).catch(
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({ kind: 'wrong-input', code: 'tasks.lines' });
    expect((error as Error).message).toContain(`A line of t.jsonl cannot be used: line 2: ${what}`);
    expect((error as Error).message).toContain('nothing was trained');
  }
  await expect(jsonl([{ question: 'd', solution: '1' }])).rejects.toThrow(
    /line 1: it has no "answer", its fields are question, solution: The checker "exact" cannot use/,
  );
});

test('more than three faults are counted', async () => {
  await expect(jsonl(Array.from({ length: 80 }, () => '{'))).rejects.toThrow(
    /^80 lines (?:(?!line 4).)*line 3: .*; and 77 more\./,
  );
  await expect(jsonl(['{'])).rejects.toThrow(/^A line of t\.jsonl cannot be used: line 1/);
});

test('a difficulty that is no number, an answer without its mark, an empty file', async () => {
  await expect(jsonl([{ question: 'a', answer: '1' }], { difficulty: 'level' })).rejects.toThrow(
    /its difficulty "level" is missing/,
  );
  await expect(jsonl([{ question: 'a', answer: '1' }], { reference: ['hashes'] })).rejects.toThrow(
    /\(no-hashes\)/,
  );
  await expect(readTasks('t.csv', utf8('question,answer\n'), settings())).rejects.toThrow(/has no tasks/);
  await expect(readTasks('t.txt', utf8('x'), settings())).rejects.toThrow(
    /kind of the file t\.txt is not known.*\.parquet/,
  );
  await expect(readTasks('t.jsonl', Uint8Array.of(0xff, 0xfe), settings())).rejects.toThrow(/is not UTF-8/);
});

test('CSV: quoted cells over several lines, JSON cells, a byte order mark', async () => {
  const text =
    '\ufeffquestion,answer,choices\r\n"Which\r\none, then?",B,"[""x"", ""y""]"\r\nNext?,A,"[""p"", ""q""]"\r\n';
  const tasks = await readTasks('t.csv', utf8(text), settings({ checker: findChecker('choice') }));
  expect(tasks).toMatchObject([
    {
      messages: [{ content: 'Which\none, then?' }],
      answer: 'B',
      metadata: { choices: ['x', 'y'] },
      line: 2,
    },
    { messages: [{ content: 'Next?' }], answer: 'A', metadata: { choices: ['p', 'q'] }, line: 4 },
  ]);
  await expect(readTasks('t.csv', utf8('question,answer\na,1\nb\n'), settings())).rejects.toThrow(
    /The file t\.csv is no CSV: .*line 3/,
  );
  const wrong = 'question,answer\n\n"a\nb",1\n\nc,C\n';
  await expect(readTasks('t.csv', utf8(wrong), settings({ checker: findChecker('number') }))).rejects.toThrow(
    /line 6: The checker/,
  );
});

test('values that are nested without measure are refused by their line, and stay text in CSV', async () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const lines = `{"question":"a","answer":"1"}\n{"question":"b","answer":${deep}}\n`;
  await expect(readTasks('t.jsonl', utf8(lines), settings())).rejects.toThrow(
    /line 2: it is nested deeper than 100 levels/,
  );
  const [task] = await readTasks('t.csv', utf8(`question,answer,more\na,1,${deep}\n`), settings());
  expect(task!.metadata.more).toBe(deep);
});

test('numbers without end are refused by their line, and stay text in CSV', async () => {
  const lines = '{"question":"a","answer":"1"}\n{"question":"b","answer":"2","more":[{"x":-1e400}]}\n';
  await expect(readTasks('t.jsonl', utf8(lines), settings())).rejects.toThrow(/line 2: .*1\.8e308/);
  const [task] = await readTasks('t.csv', utf8('question,answer,more\na,1,[1e400]\n'), settings());
  expect(task!.metadata.more).toBe('[1e400]');
  const columnData = [
    { name: 'question', data: ['a', 'b'], type: 'STRING' },
    { name: 'answer', data: ['1', '2'], type: 'STRING' },
    { name: 'level', data: [1, Number.POSITIVE_INFINITY], type: 'DOUBLE' },
  ] as const;
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData: columnData as never }));
  await expect(readTasks('t.parquet', bytes, settings())).rejects.toThrow(
    /row 2: .*1\.8e308|line 2: .*1\.8e308/,
  );
});

test('Parquet: texts, big integers, lists and structures', async () => {
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: 'question', data: ['3 + 4?', 'make 5'], type: 'STRING' },
      { name: 'answer', data: ['7', '2+3'], type: 'STRING' },
      { name: 'level', data: [1n, 2n], type: 'INT64' },
      { name: 'metadata', data: [{ a: [1] }, { numbers: [2, 3], target: 5 }], type: 'JSON' },
    ],
  });
  const tasks = await readTasks('t.parquet', new Uint8Array(buffer), settings({ difficulty: 'level' }));
  expect(tasks).toMatchObject([
    { messages: [{ role: 'user', content: '3 + 4?' }], answer: '7', difficulty: 1, line: 1 },
    { metadata: { numbers: [2, 3], target: 5, level: 2 }, difficulty: 2, line: 2 },
  ]);
  await expect(readTasks('t.parquet', utf8('PAR1 not'), settings())).rejects.toThrow(
    /cannot be read as Parquet/,
  );
});

test.each([
  'basic_arithmetic',
  'basic_arithmetic.easy',
  'chain_sum',
  'chain_sum.easy',
  'countdown',
  'countdown.easy',
  'gcd.easy',
  'products.easy',
  'simple_equations',
  'simple_equations.easy',
])('reasoning-gym’s own answers to %s are right, and no other question’s', async (name) => {
  const bytes = readFileSync(new URL(`reasoning-gym/${name}.jsonl`, import.meta.url));
  const tasks = await readTasks(`${name}.jsonl`, bytes, settings());
  const checks = tasks.map((task) => findChecker('auto').prepare(task));
  expect(tasks.length).toBeGreaterThan(20);
  for (const [i, task] of tasks.entries()) {
    expect(checks[i]!(task.answer), task.messages[0]!.content).toEqual({ ok: true, value: true });
    const other = tasks.find(({ answer }) => answer !== task.answer)!;
    expect(checks[i]!(other.answer)).toMatchObject({ ok: true, value: false });
  }
});

test('list-program runs the tests in the sandbox', async () => {
  const metadata = {
    tests: [
      { input: [3, 1], output: [1, 3] },
      { input: [], output: [] },
    ],
  };
  const check = listProgram.prepare({ answer: '', metadata });
  expect(check('sort')).toEqual({ ok: true, value: true });
  expect(check('rev')).toEqual({ ok: true, value: true });
  expect(check('dup')).toEqual({ ok: true, value: false });
  expect(check('+1 ( )')).toEqual({ ok: true, value: false });
  expect(check('sort(')).toEqual({ ok: false, reason: 'off-grammar' });
  await expect(
    jsonl([{ question: 'q', answer: '', metadata: { tests: [] } }], { checker: listProgram }),
  ).rejects.toThrow(/line 1: The checker "list-program".*1 to 100 tests/);
});

test('a file whose form is known is told the flag that reads it', async () => {
  const checker = findChecker('number');
  const solved = (answer: string) => `She has 3 + 4 eggs.\n#### ${answer}`;
  const gsm = [
    { question: 'a', answer: solved('7') },
    { question: 'b', answer: solved('1,200') },
  ];
  await expect(jsonl(gsm, { checker })).rejects.toThrow(
    /The answers look like those of GSM8K: add --reference hashes\.$/,
  );
  expect(await jsonl(gsm, { checker, reference: ['hashes'] })).toHaveLength(2);
  const other = [
    { prompt: 'a', solution: '7' },
    { prompt: 'b', solution: '8' },
  ];
  await expect(jsonl(other, { checker })).rejects.toThrow(
    /The rows have other fields: add --fields question=prompt,answer=solution\.$/,
  );
  expect(await jsonl(other, { checker, fields: { question: 'prompt', answer: 'solution' } })).toHaveLength(2);
  await expect(jsonl([{ problem: 'a', answer: solved('7') }], { checker })).rejects.toThrow(
    /add --fields question=problem --reference hashes\.$/,
  );
  await expect(jsonl([{ question: 'a', answer: 'plenty' }], { checker })).rejects.toThrow(
    /nothing was trained on it\.$/,
  );
});
