/** Images of rows: the columns and the parts of messages become texts that show them. */
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { findChecker } from '../../../core/checkers/registry.ts';
import { wrongInput } from '../../../core/errors.ts';
import { imageText } from '../../../core/images/patches.ts';
import { readConversations, readPairs } from '../../../worlds/file/read-examples.ts';
import { readTasks, type TaskFileSettings } from '../../../worlds/file/read-tasks.ts';
import { pngOf } from '../../core/images/png.ts';

const one = { width: 3, height: 2, pixels: new Uint8Array(18).fill(10) };
const other = { width: 3, height: 2, pixels: new Uint8Array(18).fill(20) };
const [first, second] = [imageText(one), imageText(other)];
const url = `data:image/png;base64,${Buffer.from(pngOf(one)).toString('base64')}`;
const files: Record<string, Uint8Array> = {
  'pics/1.png': pngOf(one),
  'pics/2.png': pngOf(other),
  'pics/1.jpg': pngOf(one),
  'note.png': new TextEncoder().encode('no image'),
};
const readBeside = async (path: string) => {
  const bytes = files[path];
  if (bytes) return bytes;
  throw wrongInput('image.missing', 'There is no such file.');
};
const jsonl = (rows: readonly object[]) =>
  new TextEncoder().encode(rows.map((row) => JSON.stringify(row)).join('\n'));
const read = (rows: readonly object[], more: Partial<TaskFileSettings> = {}) =>
  readTasks('t.jsonl', jsonl(rows), { checker: findChecker('exact'), readBeside, ...more });
const asked = async (row: object, more?: Partial<TaskFileSettings>) =>
  (await read([{ answer: 'red', ...row }], more))[0]!.messages;
const user = (content: string) => [{ role: 'user', content }];

test('a column of images is shown before the question, or in its places', async () => {
  expect(await asked({ question: 'Which?', image: 'pics/1.png' })).toEqual(user(`${first}Which?`));
  expect(await asked({ question: 'Which?', image: { bytes: null, path: 'pics/1.png' } })).toEqual(
    user(`${first}Which?`),
  );
  expect(await asked({ question: 'Which?', images: [url, 'pics/2.png'] })).toEqual(
    user(`${first}${second}Which?`),
  );
  expect(
    await asked({ question: '<image> or <image>?', image: 'pics/2.png', images: ['pics/1.png'] }),
  ).toEqual(user(`${second} or ${first}?`));
  expect(await asked({ question: 'Which?', photo: 'pics/1.png' }, { fields: { image: 'photo' } })).toEqual(
    user(`${first}Which?`),
  );
  const [task] = await read([{ question: 'Which?', image: 'pics/1.png', answer: 'red', level: 2 }]);
  expect(task!.metadata).toEqual({ level: 2 });
});

test('a column of a Parquet file may hold the files themselves, as those of Hugging Face do', async () => {
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: 'question', data: ['Which?', 'And?'], type: 'STRING' },
      { name: 'image', data: [files['pics/1.png']!, files['pics/2.png']!], type: 'BYTE_ARRAY' },
      { name: 'mask', data: [files['pics/1.png']!, files['pics/1.png']!], type: 'BYTE_ARRAY' },
      {
        name: 'answer',
        data: ['red', 'blue'].map((text) => new TextEncoder().encode(text)),
        type: 'BYTE_ARRAY',
      },
    ],
  });
  const tasks = await readTasks('t.parquet', new Uint8Array(buffer), { checker: findChecker('exact') });
  expect(tasks).toMatchObject([
    { messages: user(`${first}Which?`), answer: 'red', metadata: {} },
    { messages: user(`${second}And?`), answer: 'blue', metadata: {} },
  ]);
});

test('a list of a Parquet column keeps each of its images, and the bytes of another kind are a fault', async () => {
  const file = (bytes: Uint8Array | null, path: string) => ({ bytes, path });
  const webp = Uint8Array.of(...new TextEncoder().encode('RIFF'), 0xff, 0xff, 0, 0);
  const readImages = (images: readonly object[]) => {
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: 'question', data: ['Which?'] },
        { name: 'answer', data: ['red'] },
        { name: 'images', data: [images] },
      ],
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'question', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        { name: 'answer', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        { name: 'images', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { name: 'element', num_children: 2, repetition_type: 'OPTIONAL' },
        { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
        { name: 'path', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      ],
    });
    return readTasks('t.parquet', new Uint8Array(buffer), { checker: findChecker('exact'), readBeside });
  };
  const [task] = await readImages([file(files['pics/1.png']!, 'x'), file(null, 'pics/2.png')]);
  expect(task!.messages).toEqual(user(`${first}${second}Which?`));
  await expect(readImages([file(files['pics/1.png']!, 'x'), file(webp, 'b.webp')])).rejects.toThrow(
    /its image: What should be an image is none; expected a PNG or JPEG file/,
  );
});

test('a row without images stays as it is, places and all', async () => {
  expect(await asked({ question: 'What is <image:a>, or <image>?' })).toEqual(
    user('What is <image:a>, or <image>?'),
  );
  expect(await asked({ question: 'Which?', image: null, images: [] })).toEqual(user('Which?'));
});

test('images in the parts of messages, as OpenAI and as files of Hugging Face have them', async () => {
  const parts = [
    { type: 'text', text: 'Is ' },
    { type: 'image_url', image_url: { url } },
    { type: 'text', text: ' like ' },
    { type: 'image', image: 'pics/2.png' },
    '?',
  ];
  expect(await asked({ messages: [{ role: 'user', content: parts }] })).toEqual(
    user(`Is ${first} like ${second}?`),
  );
  // As the parts of a response have it, the address is a text.
  const input = [{ type: 'input_image', image_url: url }, '?'];
  expect(await asked({ messages: [{ role: 'user', content: input }] })).toEqual(user(`${first}?`));
  // A part that names no file has the place of an image of the row.
  const placed = [{ type: 'image' }, { type: 'text', text: 'Which?' }];
  expect(await asked({ messages: [{ role: 'user', content: placed }], images: ['pics/2.png'] })).toEqual(
    user(`${second}Which?`),
  );
  // Without places it is before what the user said last.
  const messages = [...user('Hi'), { role: 'assistant', content: 'Yes?' }, ...user('Which?')];
  expect((await asked({ messages, image: 'pics/1.png' })).at(-1)!.content).toBe(`${first}Which?`);
});

test('messages take the images of a row in their order, whatever has parts', async () => {
  const part = (text: string) => ({ type: 'text', text });
  const said = { role: 'assistant', content: 'Yes?' };
  const messages = [{ role: 'User', content: [part('1: '), { type: 'image' }] }, said];
  for (const content of [[{ type: 'image' }, part(' 2')], ['<image>', part(' 2')], '<image> 2'])
    expect(
      (
        await asked({
          messages: [...messages, { role: 'user', content }],
          images: ['pics/1.png', 'pics/2.png'],
        })
      ).map((message) => message.content),
    ).toEqual([`1: ${first}`, 'Yes?', `${second} 2`]);
});

test.each<[string, object, Partial<TaskFileSettings>]>([
  ['messages that are JSON as a text', { messages: JSON.stringify(user('Which?')) }, {}],
  ['messages of another spelling', { messages: [{ role: 'User', content: ['Which?'] }] }, {}],
  ['a question inside of a field', { data: { q: 'Which?' } }, { fields: { question: 'data.q' } }],
  [
    'an image inside of a field',
    { question: 'Which?', image: null, data: { i: 'pics/1.png' } },
    { fields: { image: 'data.i' } },
  ],
])('an image is shown to %s', async (_, row, more) => {
  expect(await asked({ image: 'pics/1.png', ...row }, more)).toEqual(user(`${first}Which?`));
});

test('an image is shown to a prompt and to an instruction, whose answer is learned from', async () => {
  for (const row of [
    { prompt: 'Which?', completion: 'red' },
    { prompt: user('Which?'), completion: 'red' },
    { prompt: [{ role: 'user', content: [{ type: 'image' }, 'Which?'] }], completion: 'red' },
    { instruction: 'Which?', output: 'red' },
  ]) {
    const rows = jsonl([{ ...row, images: ['pics/1.png'] }]);
    const [task] = await readConversations('c.jsonl', rows, undefined, readBeside);
    expect(task!.messages).toEqual(user(`${first}Which?`));
  }
});

test('an image that nothing shows is a fault of the line', async () => {
  const messages = [
    { role: 'system', content: 'Look.' },
    { role: 'tool', content: 'Which?' },
  ];
  await expect(asked({ messages, image: url })).rejects.toThrow(
    /line 1: it has 1 image, of which what is asked shows 0; expected a question/,
  );
  const conversation = (answer: string) => [...user('Which?'), { role: 'assistant', content: answer }];
  const rows = jsonl([{ chosen: conversation('red'), rejected: conversation('blue'), image: url }]);
  await expect(readPairs('p.jsonl', rows)).rejects.toThrow(/it has 1 image, of which/);
  // Nor may a text name the image of another row.
  await expect(read([{ question: `${first}?`, answer: 'red' }])).rejects.toThrow(
    /its text holds <image:…>, by/,
  );
});

test('conversations to learn from show images, too', async () => {
  const conversations = [
    { from: 'human', value: '<image>\nWhich?' },
    { from: 'gpt', value: 'red' },
  ];
  const [task] = await readConversations(
    'c.jsonl',
    jsonl([{ conversations, image: 'pics/1.png' }]),
    undefined,
    readBeside,
  );
  expect(task!.messages).toEqual(user(`${first}\nWhich?`));
  expect(task!.answer).toBe('red');
});

test('the same question about another image is another question, and the same file twice is one', async () => {
  const rows = ['pics/1.png', 'pics/2.png', url].map((image) => ({ question: 'Which?', image, answer: 'a' }));
  const [a, b, c] = (await read(rows)).map(({ messages }) => messages[0]!.content);
  expect(a).not.toBe(b);
  expect(a).toBe(c);
});

test.each([
  [
    'a file that is no image',
    { image: 'note.png' },
    /line 1: its image note\.png: What should be an image is none/,
  ],
  [
    'another type than its name says',
    { image: 'pics/1.jpg' },
    /says that it is image\/jpeg, and is image\/png/,
  ],
  ['a missing file', { image: 'pics/3.png' }, /its image pics\/3\.png: There is no such file/],
  ['an address', { image: 'https://example.org/a.png' }, /it is at an address; expected a file beside/],
  ['a number', { image: 7 }, /an image is neither the path of a file nor a data URL/],
  ['a text as a list', { images: 'pics/1.png' }, /its images are no list/],
  [
    'more places than images',
    { question: '<image> <image>', image: url },
    /2 places <image> and it has 1 images/,
  ],
  ['the text of an image', { question: `${first}?`, image: url }, /its text holds <image:, by which/],
])('%s is a fault of the line', async (_, row, fault) => {
  await expect(read([{ question: 'Which?', answer: 'red', ...row }])).rejects.toThrow(fault);
});

test('an image that the assistant says is a fault', async () => {
  const messages = [
    ...user('Draw.'),
    { role: 'assistant', content: [{ type: 'image_url', image_url: { url } }] },
    ...user('Again.'),
  ];
  await expect(asked({ messages })).rejects.toThrow(/an answer of it shows an image/);
});
