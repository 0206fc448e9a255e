import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, describe, expect, test } from 'vitest';
import { imagesBeside } from '../../../cli/policy/task-file-options.ts';
import { conversationRows, pairRows, taskRows } from '../../../cli/trajectories/derived-rows.ts';
import { withImageFiles } from '../../../cli/trajectories/image-files.ts';
import { writeRows } from '../../../cli/trajectories/write-rows.ts';
import { findChecker } from '../../../core/checkers/registry.ts';
import { pixmap } from '../../../core/images/image.ts';
import { imagesNamed, imageText } from '../../../core/images/patches.ts';
import type { Trajectory, Turn } from '../../../core/runs/trajectories.ts';
import { readConversations, readPairs } from '../../../worlds/file/read-examples.ts';
import { readTasks } from '../../../worlds/file/read-tasks.ts';
import { writeTask } from '../../../worlds/questions/task-text.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-trajectories-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const question = (text: string) =>
  writeTask({
    messages: [{ role: 'user', content: text }],
    answer: '7',
    metadata: { source: 'x' },
    difficulty: 2,
  });

let made = 0;
const answered = (task: string, text: string, exact: boolean | null): Trajectory => ({
  round: 1,
  group: `group of ${task}`,
  task,
  id: `${made++}`,
  episode: null,
  role: 'solver',
  policy: 'run@1',
  turns: [
    {
      turn: 0,
      prompt: 'p',
      completion: `${text}<|end|>`,
      promptIds: [1],
      ids: [2],
      logprobs: [-1],
      stopped: true,
      outcome: 'ok',
      rewards: { checker: exact === null ? null : Number(exact) },
    },
  ],
  answerExact: exact,
  solutionExact: exact,
  verdicts: [],
});
/** Stands for the renderer, which knows the end token. */
const read = ({ completion }: Turn) => completion!.replace('<|end|>', '');

const episodes = [
  answered(question('3 + 4?'), '7', true),
  answered(question('3 + 4?'), '8', false),
  answered(question('3 + 4?'), 'seven', true),
  answered(question('9 - 2?'), '6', false),
  answered(question('9 - 2?'), '…', null),
];

const bytesOf = async (rows: object[]) => {
  const path = join(root, 'rows.jsonl');
  await writeRows(path, 'jsonl', rows);
  return new Uint8Array(readFileSync(path));
};

test('images are files beside the rows, and are read back as the same', async () => {
  const image = { width: 9, height: 5, pixels: Uint8Array.from({ length: 135 }, (_, i) => i) };
  const shown = imageText(image);
  const sha256 = imagesNamed(shown)[0]!.image;
  const asked = answered(question(`${shown}3 + 4, or ${shown}?`), '7', true);
  const out = join(root, 'seen.jsonl');
  const asFiles = (rows: object[]) => withImageFiles(rows, out, async () => pixmap(image));
  const rows = await asFiles(taskRows([asked]));
  const path = `seen.images/${sha256}.png`;
  expect(rows).toMatchObject([
    { messages: [{ content: '<image>3 + 4, or <image>?' }], images: [path, path] },
  ]);
  await writeRows(out, 'jsonl', rows);
  const [task] = await readTasks('seen.jsonl', new Uint8Array(readFileSync(out)), {
    checker: findChecker('number'),
    readBeside: imagesBeside(out),
  });
  expect(task!.messages).toEqual([{ role: 'user', content: `${shown}3 + 4, or ${shown}?` }]);
  const rollout = { turns: [{ prompt: `${shown}a` }, { prompt: `${shown}b` }] };
  expect(await asFiles([rollout, { turns: [] }])).toEqual([{ ...rollout, images: [path] }, { turns: [] }]);
  const other = { ...image, pixels: new Uint8Array(135) };
  for (const bytes of [new Uint8Array(3), pixmap(other)])
    await expect(withImageFiles([rollout], out, async () => bytes)).rejects.toMatchObject({
      code: 'image.damaged',
    });
});

describe('read back by the readers of files', () => {
  test('questions, each once', async () => {
    const tasks = await readTasks('rows.jsonl', await bytesOf(taskRows(episodes)), {
      checker: findChecker('number'),
    });
    expect(tasks.map(({ messages, answer }) => [messages[0]!.content, answer])).toEqual([
      ['3 + 4?', '7'],
      ['9 - 2?', '7'],
    ]);
    expect(tasks[0]!.metadata).toMatchObject({ source: 'x' });
  });

  test('pairs: as many as there are right and wrong answers to a question', async () => {
    const pairs = await readPairs('rows.jsonl', await bytesOf(pairRows(episodes, read)));
    expect(
      pairs.map(({ messages, answer, metadata }) => [messages[0]!.content, answer, metadata.rejected]),
    ).toEqual([['3 + 4?', '7', '8']]);
  });

  test('right answers', async () => {
    const rows = conversationRows([...episodes, episodes[0]!], read);
    const conversations = await readConversations('rows.jsonl', await bytesOf(rows));
    expect(conversations.map(({ answer }) => answer)).toEqual(['7', 'seven']);
  });
});

test('tasks that a recipe made itself are no questions', () => {
  expect(() => taskRows([answered('2+3', '5', true)])).toThrow(
    expect.objectContaining({ code: 'trajectories.questions' }),
  );
});

test('Parquet has the same rows: numbers and texts as such, the rest as JSON', async () => {
  const path = join(root, 'rows.parquet');
  const rows = [
    { name: 'a', round: 1, share: 0.5, exact: true, turns: [{ ids: [1, 2] }], note: null },
    { name: 'b', round: 2, share: 2, exact: null, turns: [], note: 'x' },
  ];
  await writeRows(path, 'parquet', rows);
  const bytes = readFileSync(path);
  const back = await parquetReadObjects({
    file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer,
  });
  expect(back.map((row) => ({ ...row, round: Number(row.round) }))).toEqual(rows);
});
