/** Archives that no `rollmesh backup` wrote: nothing of them is taken, and nothing outside of the new folder is touched. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { command } from '../../cli/restore/command.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-restore-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Case {
  readonly what: string;
  readonly code: string;
  /** Puts something into the folder that is packed. */
  readonly fill: (folder: string) => void;
  /** What GNU tar is told besides. */
  readonly more?: readonly string[];
}
const victim = join(root, 'victim');
mkdirSync(victim);
const store = (folder: string) => mkdirSync(join(folder, 'v3/r2/objects/blobs'), { recursive: true });

const cases: readonly Case[] = [
  {
    what: 'a link in place of an object',
    code: 'backup.foreign',
    fill: (folder) => {
      store(folder);
      symlinkSync('/etc/passwd', join(folder, 'v3/r2/objects/blobs/one'));
    },
  },
  {
    what: 'a link in place of the store',
    code: 'backup.foreign',
    fill: (folder) => symlinkSync(victim, join(folder, 'v3')),
  },
  {
    what: 'a link in place of the mark',
    code: 'backup.foreign',
    fill: (folder) => {
      rmSync(join(folder, 'rollmesh-state'));
      symlinkSync(join(folder, '..', 'victim', 'mark'), join(folder, 'rollmesh-state'));
    },
  },
  {
    what: 'a pipe',
    code: 'backup.foreign',
    fill: (folder) => expect(spawnSync('mkfifo', [join(folder, 'pipe')]).status).toBe(0),
  },
  {
    what: 'a path out of the folder',
    code: 'backup.tar',
    fill: (folder) => writeFileSync(join(folder, 'out'), 'bad'),
    more: ['--transform', 's,^./out$,../victim/out,'],
  },
  {
    what: 'nothing of a mesh',
    code: 'backup.foreign',
    fill: (folder) => rmSync(join(folder, 'rollmesh-state')),
  },
];

test.each(cases)('$what is refused by $code', async ({ what, code, fill, more = [] }) => {
  const folder = mkdtempSync(join(root, 'from-'));
  writeFileSync(join(folder, 'rollmesh-state'), '');
  fill(folder);
  const file = join(root, `${what}.tgz`);
  const packed = spawnSync('tar', [
    '--create',
    '--gzip',
    '-P',
    ...more,
    '--file',
    file,
    '--directory',
    folder,
    '.',
  ]);
  expect(packed.status, String(packed.stderr)).toBe(0);
  const into = mkdtempSync(join(root, 'into-'));
  const state = join(into, 'state');
  await expect(command().parseAsync(['node', 'restore', file, '--state', state])).rejects.toMatchObject({
    code,
  });
  expect(readdirSync(into)).toEqual([]);
  expect(readdirSync(victim)).toEqual([]);
});
