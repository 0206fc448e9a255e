/** A database of the state folder that is damaged at rest is named before workerd opens it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { refuseDamaged } from '../../local/mesh/sqlite-files.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-sqlite-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const fileIn = (folder: string) => join(root, 'v3', folder, 'object', 'one.sqlite');

beforeEach(() => {
  rmSync(join(root, 'v3'), { recursive: true, force: true });
  for (const folder of ['d1', 'r2', 'do']) {
    mkdirSync(join(root, 'v3', folder, 'object'), { recursive: true });
    const file = new DatabaseSync(fileIn(folder));
    file.exec('CREATE TABLE things (name TEXT PRIMARY KEY, value BLOB)');
    const insert = file.prepare('INSERT INTO things VALUES (?, zeroblob(500))');
    for (let i = 0; i < 100; i++) insert.run(`thing ${i}`);
    file.close();
  }
});

test('a whole folder passes, and so does one where no mesh has run', async () => {
  await refuseDamaged(root);
  await refuseDamaged(join(root, 'none'));
});

const half = (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1);
const zeros = (bytes: Buffer) => Buffer.alloc(bytes.length);
const headless = (bytes: Buffer) => Buffer.concat([Buffer.from('x'), bytes.subarray(1)]);

test.each([
  ['d1', 'The database (D1)', half],
  ['r2', 'The index of the objects (R2)', half],
  ['r2', 'The index of the objects (R2)', zeros],
  ['do', 'The queue that the learner pulls from', headless],
] as const)('%s: %s', async (folder, what, damage) => {
  const path = fileIn(folder);
  writeFileSync(path, damage(readFileSync(path)));
  await expect(refuseDamaged(root)).rejects.toMatchObject({
    code: 'database.damaged',
    kind: 'give-up',
    what: expect.stringContaining(`${what} is damaged: `),
    next: expect.stringContaining('--fresh'),
  });
});
