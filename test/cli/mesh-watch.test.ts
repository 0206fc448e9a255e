/** The mesh's pulse: when a person is told, and when it is given up. */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  DiskWatch,
  hasRoom,
  lastWords,
  MeshWatch,
  type Pulse,
  pulseOf,
  refuseFull,
  watchMesh,
} from '../../cli/mesh-watch.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-watch-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const watchOf = (reason = '') => new MeshWatch(() => reason);
const times = (n: number, pulse: Pulse) => Array.from({ length: n }, () => pulse);

test('a mesh that refuses three times in a row is gone, with the last words of its log', () => {
  const watch = watchOf('*** Fatal uncaught exception');
  for (const pulse of ['refused', 'refused', 'answers', 'refused', 'refused'] as const)
    expect(watch.look(pulse)).toBeUndefined();
  expect(() => watch.look('refused')).toThrowError(
    expect.objectContaining({
      code: 'mesh.gone',
      what: "The mesh's workerd has ended: *** Fatal uncaught exception.",
    }),
  );
});

test('one that is silent is told after 20 s, when it is back, and given up after 120 s', () => {
  const watch = watchOf();
  expect(times(4, 'silent').map((pulse) => watch.look(pulse))).toEqual([
    undefined,
    undefined,
    undefined,
    'the mesh has not answered for 20 seconds; it is waited for',
  ]);
  expect(watch.look('answers')).toBe('the mesh answers again');
  expect(watch.look('answers')).toBeUndefined();
  for (const pulse of times(23, 'silent')) watch.look(pulse);
  expect(() => watch.look('silent')).toThrowError(expect.objectContaining({ code: 'mesh.silent' }));
});

test('a port without a listener refuses; one that hangs is silent', async () => {
  const sockets: Socket[] = [];
  const deaf = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
  const { port } = deaf.address() as AddressInfo;
  expect(await pulseOf(`http://127.0.0.1:${port}`, 200)).toBe('silent');
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => deaf.close(resolve));
  expect(await pulseOf(`http://127.0.0.1:${port}`, 200)).toBe('refused');
});

test('last words are neither JSON nor a stack', () => {
  const file = join(folder, 'mesh.log');
  writeFileSync(
    file,
    '{"event":"a"}\n*** Received signal #6: Aborted\nserver.c++:1: error: disconnected: Broken pipe\nstack: a@1 b@2\n    at x\n{"event":"b"}\n',
  );
  expect(lastWords(file)).toBe('*** Received signal #6: Aborted');
  expect(lastWords(join(folder, 'missing.log'))).toBe('');
  // What is read of a long log begins within a line, which is no words of its own.
  const long = join(folder, 'long.log');
  writeFileSync(long, `${JSON.stringify({ event: 'group.judged', ms: 808 })}\n`.repeat(400));
  expect(lastWords(long)).toBe('');
});

test('a workerd that was started again by itself is told as gone, unless the command ends', async () => {
  const log = join(folder, 'crashed.log');
  writeFileSync(log, '*** Fatal uncaught exception\n');
  // Nothing listens at this port, and a refused look alone gives nobody up.
  const mesh = { url: 'http://127.0.0.1:9', crashed: Promise.resolve() };
  const follow = new AbortController();
  await expect(watchMesh(mesh, log, () => {}, follow.signal)).rejects.toMatchObject({
    code: 'mesh.gone',
    what: "The mesh's workerd has ended: *** Fatal uncaught exception.",
  });
  const ending = new AbortController();
  const watched = watchMesh(mesh, log, () => {}, ending.signal);
  ending.abort();
  expect(await Promise.race([watched, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))])).toBe(
    'waits',
  );
});

test.each([
  'error: e = kj/filesystem-disk-unix.c++:390: overloaded: pwrite(fd, data.begin(), data.size(), offset): No space left on device',
  'error: pwrite(fd): Disk quota exceeded',
  '{"level":"error","cause":"D1_ERROR: SQLITE_FULL"}',
])('a disk that fills up is named, even where the words come in two pieces: %s', (words) => {
  const log = join(folder, 'full.log');
  writeFileSync(log, `of an earlier run: ${words}\n`);
  const disk = new DiskWatch(log, () => false);
  disk.look();
  appendFileSync(log, `{"event":"a"}\n${words.slice(0, -12)}`);
  disk.look();
  appendFileSync(log, `${words.slice(-12)}\n`);
  expect(() => disk.look()).toThrowError(
    expect.objectContaining({
      code: 'disk.full',
      what: `The disk is full at ${folder}.`,
      next: expect.stringContaining('Make room'),
    }),
  );
});

test('a log that repeats the words of a full disk ends nothing while there is room', () => {
  const log = join(folder, 'said.log');
  writeFileSync(log, '');
  const disk = new DiskWatch(log);
  appendFileSync(log, '{"event":"task","text":"database or disk is full"}\nNo space left on device\n');
  disk.look();
  expect(readdirSync(folder).filter((name) => name.startsWith('.room'))).toEqual([]);
});

test('there is room if the largest file of the folder would fit a second time, logs left out', () => {
  const state = join(folder, 'state');
  mkdirSync(join(state, 'v3/blobs'), { recursive: true });
  const sparse = (name: string, bytes: number) => {
    writeFileSync(join(state, name), '');
    truncateSync(join(state, name), bytes);
  };
  sparse('v3/blobs/weights', 1e6);
  sparse('mesh.log', 2 ** 43);
  expect(hasRoom(state)).toBe(true);
  sparse('v3/blobs/larger', 2 ** 43);
  expect(hasRoom(state)).toBe(false);
});

test.skipIf(process.platform !== 'linux')('a file system that does not know its size is not full', () => {
  const { blocks, bavail } = statfsSync('/proc');
  expect([blocks, bavail]).toEqual([0, 0]);
  expect(() => refuseFull('/proc')).not.toThrow();
});

test('words that come while the disk is not asked again are not forgotten', () => {
  const log = join(folder, 'slowly.log');
  writeFileSync(log, '');
  let now = 0;
  let room = true;
  const disk = new DiskWatch(
    log,
    () => room,
    () => now,
  );
  appendFileSync(log, 'No space left on device\n');
  disk.look();
  room = false;
  now = 5_000;
  appendFileSync(log, `${' '.repeat(100)}\nSQLITE_FULL\n`);
  disk.look();
  now = 10_000;
  expect(() => disk.look()).toThrowError(expect.objectContaining({ code: 'disk.full' }));
});

test('a log that is not there yet is no trouble', () => {
  const log = join(folder, 'later.log');
  const disk = new DiskWatch(log, () => false);
  disk.look();
  writeFileSync(log, 'No space left on device');
  expect(() => disk.look()).toThrowError(expect.objectContaining({ code: 'disk.full' }));
});

test('the command ends at a full disk while the mesh answers, or does not', async () => {
  const log = join(folder, 'filling.log');
  const mesh = { url: 'http://127.0.0.1:9', crashed: new Promise<void>(() => {}) };
  const follow = new AbortController();
  const watched = watchMesh(
    mesh,
    log,
    () => {},
    follow.signal,
    () => false,
  );
  writeFileSync(log, 'No space left on device\n');
  await expect(watched).rejects.toMatchObject({ code: 'disk.full' });
});
