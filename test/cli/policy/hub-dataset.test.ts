/** Tasks are taken from a server that answers as the Hugging Face Hub does of a data set: the Parquet files that it makes of each, on a branch of their own. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
// As every command does.
import '../../../cli/shared/fetch-dispatcher.ts';
import { fetchDataset } from '../../../cli/policy/fetch-dataset.ts';
import { hubDataset, withColumns } from '../../../cli/policy/hub-dataset.ts';
import { readTaskFiles } from '../../../cli/policy/task-file-options.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const root = mkdtempSync(join(tmpdir(), 'rollmesh-hub-dataset-'));
const ROWS = [
  { question: 'Two apples and three?', answer: 'Two and three are five.\n#### 5' },
  { question: 'Ten less four?', answer: 'Four off ten.\n#### 6' },
];
const parquet = new Uint8Array(
  parquetWriteBuffer({
    columnData: (['question', 'answer'] as const).map((name) => ({
      name,
      data: ROWS.map((row) => row[name]),
      type: 'STRING' as const,
    })),
  }),
);
const sha256 = createHash('sha256').update(parquet).digest('hex');

/** The files of the branch, what the server says that each hashes to, and whether it is cut off. */
let paths: string[] = [];
let claimed = sha256;
let breaksOff = false;
let asked: string[] = [];
let server: Server;
let hub = '';
beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('connection', 'close');
    const { pathname } = new URL(request.url!, 'http://hub');
    asked.push(pathname);
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const entryOf = (path: string) => ({
      ...{ type: 'file', path, size: parquet.length, oid: claimed.slice(0, 40) },
      lfs: { oid: claimed, size: parquet.length, pointerSize: 134 },
      lastCommit: { id: COMMIT, title: 'a commit', date: '2026-01-01T00:00:00Z' },
    });
    if (pathname === '/api/datasets/openai/gsm8k/revision/refs%2Fconvert%2Fparquet')
      return json({ _id: '1', id: 'openai/gsm8k', sha: COMMIT });
    if (pathname === `/api/datasets/openai/gsm8k/tree/${COMMIT}`) return json(paths.map(entryOf));
    if (pathname === `/api/datasets/openai/gsm8k/paths-info/${COMMIT}`) {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      return request.on('end', () =>
        json(
          (JSON.parse(body) as { paths: string[] }).paths.filter((path) => paths.includes(path)).map(entryOf),
        ),
      );
    }
    if (!pathname.startsWith(`/datasets/openai/gsm8k/resolve/${COMMIT}/`))
      return json({ error: 'none' }, 404);
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
    const part = from === undefined ? parquet : parquet.subarray(Number(from), Number(to) + 1);
    response.writeHead(from === undefined ? 200 : 206, {
      etag: '"tag"',
      'content-range': `bytes ${from ?? 0}-${to ?? parquet.length - 1}/${parquet.length}`,
      'content-length': part.length,
    });
    if (!breaksOff) return response.end(part);
    return response.write(part.subarray(0, part.length >> 1), () => response.socket?.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => server.close(resolve));
  rmSync(root, { recursive: true, force: true });
});
beforeEach(() => {
  paths = [
    'main/train/0000.parquet',
    'main/test/0000.parquet',
    'socratic/train/0000.parquet',
    '.gitattributes',
  ];
  claimed = sha256;
  breaksOff = false;
  asked = [];
  vi.stubEnv('HF_HUB_CACHE', mkdtempSync(join(root, 'cache-')));
  vi.stubEnv('HF_ENDPOINT', hub);
});

const fetchOf = (text: string) =>
  fetchDataset(hubDataset(text)!, { env: { HF_ENDPOINT: hub }, say: () => {} });

test('a data set is named with its config and split, or without; a file is none', () => {
  expect(hubDataset('tasks.jsonl')).toBeUndefined();
  expect(hubDataset('hf://datasets/openai/gsm8k')).toEqual({ repository: 'openai/gsm8k' });
  expect(hubDataset('hf://datasets/openai/gsm8k/main/test')).toEqual({
    ...{ repository: 'openai/gsm8k', config: 'main', split: 'test' },
  });
  for (const wrong of [
    'hf:openai/gsm8k',
    'hf://datasets/gsm8k',
    'hf://datasets/a/b/c/d/e',
    'hf://datasets/../x',
  ])
    expect(() => hubDataset(wrong)).toThrow(expect.objectContaining({ code: 'hub.name' }));
});

test('the questions of a set are read by the columns that it is known to have', async () => {
  const tasks = await readTaskFiles(['hf://datasets/openai/gsm8k'], { checker: 'number' });
  expect(tasks.map(({ messages, answer }) => [messages[0]!.content, answer])).toEqual([
    ['Two apples and three?', '5'],
    ['Ten less four?', '6'],
  ]);
  expect(tasks[0]!.file).toBe('gsm8k-main-train.parquet');
  // What is said goes before what is known.
  const own = { checker: 'exact', reference: ['whole'] as const };
  expect(withColumns(own, 'hf://datasets/openai/gsm8k').reference).toEqual(['whole']);
  expect(withColumns({ difficulty: undefined }, 'hf://datasets/HuggingFaceH4/MATH-500')).toEqual({
    ...{ fields: { question: 'problem' }, difficulty: 'level' },
  });
  expect(withColumns({ difficulty: 'x' }, 'hf://datasets/some/other')).toEqual({ difficulty: 'x' });
});

test('the file is of one commit, and the one that is named', async () => {
  expect(basename(await fetchOf('hf://datasets/openai/gsm8k/socratic'))).toBe('gsm8k-socratic-train.parquet');
  expect(asked.filter((path) => path.includes('/resolve/'))).not.toEqual([]);
  for (const path of asked.slice(1)) expect(path).toContain(COMMIT);
});

test('what cannot be chosen, is too much, is not there or is not what the Hub says is refused by name', async () => {
  const refused = (text: string) => fetchOf(text).catch(({ code, message }) => `${code}: ${message}`);
  expect(await refused('hf://datasets/openai/gsm8k/none')).toMatch(
    /^hub\.files: .*no config none.*main, socratic/,
  );
  expect(await refused('hf://datasets/openai/gsm8k/main/dev')).toMatch(
    /^hub\.files: .*no split dev.*test, train/,
  );
  paths = ['one/train/0000.parquet', 'two/train/0000.parquet'];
  expect(await refused('hf://datasets/openai/gsm8k')).toMatch(/^hub\.files: .*several configs.*one, two/);
  paths = ['main/train/0000.parquet', 'main/train/0001.parquet'];
  expect(await refused('hf://datasets/openai/gsm8k')).toMatch(/^hub\.files: main\/train .* has 2 files/);
  paths = ['README.md'];
  expect(await refused('hf://datasets/openai/gsm8k')).toMatch(/^hub\.files: .*no Parquet file/);
  expect(await refused('hf://datasets/openai/other')).toMatch(/^hub\.refused: .*status 404/);
  paths = ['main/train/0000.parquet'];
  claimed = 'f'.repeat(64);
  expect(await refused('hf://datasets/openai/gsm8k')).toMatch(/^hub\.hash: /);
  claimed = sha256;
  breaksOff = true;
  expect(await refused('hf://datasets/openai/gsm8k')).toMatch(/^hub\.unreachable: .*broke off/);
});
