/** When the pages of a tab are made again, and how. */
import { mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isCurrent, place } from '../../local/mesh/tab-pages.ts';

const SOURCE = 'core/errors.ts';

test.each([SOURCE, 'local/mesh/tab-pages.ts', 'package.json'])('where %s is newer than they are', (file) => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-pages-'));
  expect(isCurrent(folder)).toBe(false);
  const list = join(folder, 'tab.inputs.json');
  writeFileSync(list, JSON.stringify([SOURCE]));
  expect(isCurrent(folder)).toBe(true);
  const older = new Date(statSync(file).mtimeMs - 2);
  utimesSync(list, older, older);
  expect(isCurrent(folder)).toBe(false);
});

test('a mesh that lists the folder sees files that are whole, and no others', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-pages-'));
  const file = join(folder, 'page.js');
  for (const text of ['first', 'second']) {
    const before = readdirSync(folder);
    place(file, (apart) => {
      writeFileSync(apart, text);
      expect(readdirSync(folder)).toEqual(before);
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  expect(readdirSync(folder)).toEqual(['page.js']);
});
