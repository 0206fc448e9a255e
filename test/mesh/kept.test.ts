/** What is kept between processes is used while its inputs are what they were, and made again in every other case. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { kept } from '../../local/mesh/kept.ts';

let folder: string;
let input: string;
let cache: string;
let made = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollmesh-kept-'));
  [input, cache] = [join(folder, 'input'), join(folder, 'cache')];
  made = 0;
  writeInput('one');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As if it had been written an hour ago: a file that changes while it is read is not kept. */
function writeInput(text: string): void {
  writeFileSync(input, text);
  const before = new Date(Date.now() - 3_600_000);
  utimesSync(input, before, before);
}

const read = (name = 'a', during = () => {}) =>
  kept(
    [name, undefined],
    () => {
      made++;
      const value = { text: readFileSync(input, 'utf8') };
      during();
      return Promise.resolve({ value, inputs: [input] });
    },
    cache,
  );

test('the same file is read once, under each name', async () => {
  for (const name of ['a', 'a', 'b', 'a']) expect(await read(name)).toEqual({ text: 'one' });
  expect(made).toBe(2);
});

test('a changed file and a deleted one make it again', async () => {
  await read();
  writeInput('two');
  expect(await read()).toEqual({ text: 'two' });
  rmSync(input);
  await expect(read()).rejects.toThrow(/ENOENT/);
  expect(made).toBe(3);
});

test('what was kept and is damaged is made again', async () => {
  await read();
  const [file] = readdirSync(cache).map((name) => join(cache, name));
  const whole = readFileSync(file!, 'utf8');
  for (const damaged of [whole.slice(0, 40), whole.replace('one', 'own'), '', 'null', '{}']) {
    writeFileSync(file!, damaged);
    expect(await read()).toEqual({ text: 'one' });
  }
  expect(made).toBe(6);
});

test('a file that changes while it is read is not kept', async () => {
  const change = () => writeFileSync(input, 'two');
  expect(await read('a', change)).toEqual({ text: 'one' });
  expect(await read()).toEqual({ text: 'two' });
  expect(made).toBe(2);
});

test('a folder that cannot be written to costs the time of making it, and nothing else', async () => {
  cache = input;
  for (let i = 0; i < 2; i++) expect(await read()).toEqual({ text: 'one' });
  expect(made).toBe(2);
});

test('the oldest are deleted', async () => {
  for (let i = 0; i < 70; i++) await read(String(i));
  expect(readdirSync(cache)).toHaveLength(64);
  expect(await read('69')).toEqual({ text: 'one' });
  expect(made).toBe(70);
});
