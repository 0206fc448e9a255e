/** When the pages of a tab are made again. */
import { mkdtempSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isCurrent } from '../../local/mesh/tab-pages.ts';

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
