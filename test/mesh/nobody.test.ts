/** What another account of the machine reads of a mesh's files, as that account. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStateFolder } from '../../cli/shared/state-folder.ts';
import { ensureSecrets } from '../../local/mesh/secrets.ts';
import { asNobody, canBeNobody } from './nobody.ts';

/** A project folder that everybody may look into. */
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rollmesh-'));
  chmodSync(root, 0o755);
});
afterEach(() => rmSync(root, { recursive: true }));

test.runIf(canBeNobody)('as nobody: no secret is read, also from a file that was open to all', async () => {
  const path = join(root, '.dev.vars');
  writeFileSync(path, 'READ_TOKEN=canary-of-the-reader\n', { mode: 0o644 });
  expect((await asNobody('cat "$1"', path)).stdout).toContain('canary');
  ensureSecrets(root);
  expect(readFileSync(path, 'utf8')).toContain('MESH_KEY=');
  expect(await asNobody('cat "$1"', path)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('denied'),
  });
});

test.runIf(canBeNobody)(
  'as nobody: nothing in the state folder is read, written or listed, also where it was open to all',
  async () => {
    const folder = join(root, 'state');
    mkdirSync(folder, { mode: 0o755 });
    expect((await asNobody('ls "$1"', folder)).status).toBe(0);
    openStateFolder(folder, false);
    writeFileSync(join(folder, 'records'), 'canary');
    for (const script of ['ls "$1"', 'cat "$1/records"', 'echo x > "$1/new"'])
      expect(await asNobody(script, folder)).toMatchObject({
        stdout: '',
        stderr: expect.stringMatching(/denied/i),
      });
  },
);
