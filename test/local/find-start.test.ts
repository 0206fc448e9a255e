/** Start policies are found by name in the documented order, and none is used whose bytes are not the known ones. Each start here is a few bytes of its own. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { sha256Hex } from '../../core/random.ts';
import { findStart, readStart, type StartPlaces } from '../../local/find-start.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-starts-'));
const served = join(root, 'served');
const server = createServer((request, response) => {
  const file = join(served, request.url!);
  if (!existsSync(file)) return void response.writeHead(404).end();
  response.end(readFileSync(file));
}).listen(0, '127.0.0.1');
afterAll(() => {
  server.close();
  rmSync(root, { recursive: true, force: true });
});

const FILES = ['config.json', 'tokenizer.json', 'model.safetensors'];

/** Writes a start whose files hold its mark, and returns the hash of its manifest. */
function make(folder: string, mark: string): string {
  mkdirSync(folder, { recursive: true });
  const files: Record<string, { sha256: string; bytes: number }> = {};
  for (const file of FILES) {
    const bytes = Buffer.from(`${mark} ${file}`);
    writeFileSync(join(folder, file), bytes);
    files[file] = { sha256: sha256Hex(bytes), bytes: bytes.length };
  }
  const manifest = Buffer.from(JSON.stringify({ policy: 'style', files }));
  writeFileSync(join(folder, 'manifest.json'), manifest);
  return sha256Hex(manifest);
}

let places: StartPlaces;
beforeEach(() => {
  const folder = mkdtempSync(join(root, 'places-'));
  const [own, shipped, packaged, named, cache] = ['own', 'shipped', 'packaged', 'named', 'cache'].map(
    (each) => join(folder, each),
  ) as [string, string, string, string, string];
  const style = make(join(folder, 'style'), 'style');
  rmSync(served, { recursive: true, force: true });
  for (const place of [shipped, packaged, named, served])
    cpSync(join(folder, 'style'), join(place, 'style'), { recursive: true });
  make(join(own, 'style'), 'own');
  places = { own, shipped, packaged, named, cache, hashes: { style } };
});
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const read = async (from = places) =>
  Buffer.from((await readStart('style', from))['model.safetensors']!).toString();

test('the user’s own comes first, then the shipped one, the package’s, and the one in the folder that is named', async () => {
  expect(await read()).toBe('own model.safetensors');
  for (const [place, folder] of Object.entries({
    own: places.own,
    shipped: places.shipped,
    packaged: places.packaged!,
    named: places.named!,
  })) {
    expect(dirname(findStart('style', places)!.folder), place).toBe(folder);
    await read();
    rmSync(folder, { recursive: true });
  }
  expect(findStart('style', places)).toBeUndefined();
});

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  missing: (file) => rmSync(file),
  truncated: (file) => writeFileSync(file, readFileSync(file).subarray(0, -1)),
  changed: (file) =>
    writeFileSync(
      file,
      readFileSync(file).map((byte, i) => (i === 0 ? byte ^ 1 : byte)),
    ),
};
const PLACES = ['shipped', 'packaged', 'named', 'url'] as const;
test.each(
  PLACES.flatMap((place) =>
    [...FILES, 'manifest.json'].flatMap((file) =>
      Object.keys(DAMAGES).map((damage) => ({ place, file, damage })),
    ),
  ),
)('$file $damage in $place is refused by name, and nothing is kept', async ({ place, file, damage }) => {
  const none = join(root, 'none');
  const only = { ...places, own: none, shipped: none, packaged: undefined, named: undefined };
  const from: StartPlaces =
    place === 'url' ? { ...only, named: `${url()}/` } : { ...only, [place]: places[place] };
  expect(await read(from)).toBe('style model.safetensors');
  rmSync(places.cache, { recursive: true, force: true });
  const folder = place === 'url' ? served : places[place]!;
  DAMAGES[damage]!(join(folder, 'style', file));
  const error = await readStart('style', from).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: place === 'url' && damage === 'missing' ? 'start.fetch' : 'start.damaged',
    message: expect.stringContaining(file),
  });
  expect(existsSync(places.cache) ? readdirSync(places.cache) : []).toEqual([]);
});

test('what a URL sent is kept, and read again without it', async () => {
  const from = { ...places, own: 'none', shipped: 'none', packaged: undefined, named: url() };
  await read(from);
  rmSync(served, { recursive: true });
  expect(await read(from)).toBe('style model.safetensors');
});

test('what several processes fetch at once is kept once', async () => {
  const from = { ...places, own: 'none', shipped: 'none', packaged: undefined, named: url() };
  await Promise.all(Array.from({ length: 4 }, () => read(from)));
  expect(readdirSync(from.cache)).toHaveLength(1);
});

test('a file of more bytes than the manifest says is not read to its end', async () => {
  const from = { ...places, own: 'none', shipped: 'none', packaged: undefined, named: url() };
  writeFileSync(join(served, 'style', 'model.safetensors'), Buffer.alloc(1_000_000));
  await expect(readStart('style', from)).rejects.toMatchObject({
    code: 'start.fetch',
    message: expect.stringContaining('sends more than 23 bytes'),
  });
});

test('an own start is held to its manifest, and one without a manifest to nothing', async () => {
  const weights = join(places.own, 'style', 'model.safetensors');
  writeFileSync(weights, 'own');
  await expect(read()).rejects.toMatchObject({ code: 'start.damaged' });
  rmSync(join(places.own, 'style', 'manifest.json'));
  expect(await read()).toBe('own');
});

test('a start that is nowhere is told with the commands that make it, in their order, and the time that they take', async () => {
  const from = { ...places, own: 'none', shipped: 'none', packaged: undefined, named: undefined };
  const error = (await readStart('style-wishes', from).catch((thrown: unknown) => thrown)) as Error;
  expect(error).toMatchObject({ code: 'start.unknown' });
  expect(error.message).toMatch(
    /pretrain --name style && npx rollmesh pretrain --name style-contrasts && npx rollmesh pretrain --name style-wishes` takes about \d+ minutes/,
  );
  await expect(readStart('stile', from)).rejects.toMatchObject({
    code: 'start.unknown',
    message: expect.stringMatching(/"stile".*the folder none\/stile.*one of:.*style,/s),
  });
});
