/** A backup and its restoring where the state folder is a disk of its own, and what a killed backup leaves. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { command as backup } from '../../cli/backup/command.ts';
import { command as restore } from '../../cli/restore/command.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-backup-'));
/** Another file system, where the machine has this one. */
const disk = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'rollmesh-disk-'));
afterAll(() => {
  for (const folder of [root, disk]) rmSync(folder, { recursive: true, force: true });
});

/** A store with one object, as Miniflare keeps it. */
function fillState(folder: string): void {
  mkdirSync(join(folder, 'v3/r2/objects/blobs'), { recursive: true });
  mkdirSync(join(folder, 'v3/d1/database'), { recursive: true });
  writeFileSync(join(folder, 'rollmesh-state'), '');
  writeFileSync(join(folder, 'v3/r2/objects/blobs/one'), 'an object');
  const index = new DatabaseSync(join(folder, 'v3/r2/objects/index.sqlite'));
  index.exec(
    "CREATE TABLE _mf_objects (key TEXT, blob_id TEXT); INSERT INTO _mf_objects VALUES ('k', 'one')",
  );
  index.close();
  new DatabaseSync(join(folder, 'v3/d1/database/db.sqlite')).close();
}
const backUp = (file: string, state: string) =>
  backup().parseAsync(['node', 'backup', file, '--force', '--state', state]);
/** The id of a process that is gone. */
const gone = () => spawnSync(process.execPath, ['-e', '']).pid;

test('a state folder on a disk of its own is backed up, and restored to one', async () => {
  const here = mkdtempSync(join(root, 'disk-'));
  const [from, to] = [join(here, 'from'), join(here, 'to')];
  for (const link of [from, to]) symlinkSync(mkdtempSync(join(disk, 'state-')), link);
  fillState(from);
  const kept = readdirSync(from, { recursive: true }).sort();
  const file = join(here, 'mesh.tgz');
  await backUp(file, from);
  expect(readdirSync(from, { recursive: true }).sort()).toEqual(kept);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await restore().parseAsync(['node', 'restore', file, '--state', to]);
  expect(readdirSync(to, { recursive: true }).sort()).toEqual(kept);
  expect(readFileSync(join(to, 'v3/r2/objects/blobs/one'), 'utf8')).toBe('an object');
});

test('the next backup removes what a killed one left, and nothing of one that goes on', async () => {
  const here = mkdtempSync(join(root, 'killed-'));
  const state = join(here, 'state');
  fillState(state);
  const file = join(here, 'again.tgz');
  const [dead, alive] = [gone(), process.ppid];
  for (const pid of [dead, alive]) {
    mkdirSync(join(state, `.backup-${pid}`, 'v3'), { recursive: true });
    writeFileSync(`${file}.${pid}`, 'half');
  }
  writeFileSync(`${file}.sha256`, 'of the user');
  await backUp(file, state);
  expect(readdirSync(state).filter((name) => name.startsWith('.'))).toEqual([`.backup-${alive}`]);
  expect(readdirSync(here).filter((name) => name.startsWith('again'))).toEqual(
    ['again.tgz', `again.tgz.${alive}`, 'again.tgz.sha256'].sort(),
  );
});
