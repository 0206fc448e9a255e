/** `npx rollmesh backup FILE`: what a mesh needs to go on elsewhere, as one file; the mesh may run meanwhile. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { databasesIn, openSqlite } from '../../local/mesh/sqlite-files.ts';
import { calledAs } from '../called-as.ts';
import { refuseExisting } from '../policy/files.ts';
import { printable } from '../printable.ts';
import { bornOf } from '../process-birth.ts';
import { STATE_MARKER, seeStateFolder, writtenRecipes } from '../shared/state-folder.ts';

interface BackupOptions {
  readonly state: string;
  readonly force: boolean;
}

/** With the id of the process, the folder in which a backup is put together. */
const STAGE = '.backup-';
/** How often the copies are made again where objects were removed meanwhile. */
const ATTEMPTS = 5;
/** Holds secrets. */
const OWNER_ONLY = 0o600;

export const command = (): Command =>
  new Command(calledAs('backup'))
    .description(
      'Writes the state of a mesh, with the secrets of .dev.vars, to one file. The mesh may run meanwhile; rounds that it plays then are played again.',
    )
    .argument('<file>', 'the file, a compressed archive of tar')
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--force', 'write over a file that is there', false)
    .action(backUp);

async function backUp(file: string, { state, force }: BackupOptions): Promise<void> {
  const stateDir = seeStateFolder(state);
  if (stateDir === undefined)
    throw wrongInput('state.missing', `There is no state folder ${state}.`, {
      expected: 'the folder of a mesh that has run',
      next: 'Check --state DIR.',
    });
  refuseExisting(file, force);
  const target = resolve(file);
  mkdirSync(dirname(target), { recursive: true });
  removeAbandoned(stateDir, STAGE);
  removeAbandoned(dirname(target), `${basename(target)}.`);
  const archive = `${target}.${process.pid}`;
  // Within the state, so that objects are linked and not copied, also where the state is a disk of its own.
  const stage = join(stateDir, `${STAGE}${process.pid}`);
  mkdirSync(stage, { mode: 0o700 });
  try {
    await copyState(stateDir, stage);
    if (existsSync('.dev.vars')) copyFileSync('.dev.vars', join(stage, '.dev.vars'));
    // Made here, so that nobody else can read it while it is written.
    writeFileSync(archive, '', { mode: OWNER_ONLY });
    tar(['--create', '--gzip', '--file', archive, '--directory', stage, '.']);
    renameSync(archive, target);
  } finally {
    rmSync(stage, { recursive: true, force: true });
    rmSync(archive, { force: true });
  }
  console.log(
    printable(
      `${file}: ${Math.ceil(statSync(target).size / 1e6)} MB. It holds the secrets of this mesh; keep it where nobody else reads.`,
    ),
  );
}

/** Removes what backups that were killed have left: files and folders whose names end in the id of a process that is gone. */
function removeAbandoned(folder: string, prefix: string): void {
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (!/^[0-9]+$/.test(pid) || (Number(pid) !== process.pid && bornOf(Number(pid)) !== null)) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** @throws RollmeshError `backup.tar` */
export function tar(args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('tar', [...args], { encoding: 'utf8' });
  if (status === 0) return;
  throw new RollmeshError('give-up', 'backup.tar', `tar failed: ${error?.message ?? stderr.trim()}`, {
    expected: 'a disk with room, and a file of `npx rollmesh backup`',
  });
}

const D1 = 'v3/d1';
const R2 = 'v3/r2';

/**
 * Copies what a mesh goes on from: the database, then the object store, and what it holds. Objects are written before the database names them and are
 * never changed, so a store that is copied later has all that the database names, but for what was removed between: then all is copied again. The
 * queues are left out, since the clock sends again what they held.
 *
 * @throws RollmeshError `backup.moving` where objects are removed all the time
 */
export async function copyState(stateDir: string, stage: string): Promise<void> {
  const blobs = () => linkBlobs(stateDir, stage);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    blobs();
    const before = await indexOf(databasesIn(join(stateDir, R2)));
    await copyDatabases(stateDir, stage, D1);
    const copied = await copyDatabases(stateDir, stage, R2);
    blobs();
    const after = await indexOf(copied);
    const removed = [...before.keys()].some((key) => !after.has(key));
    const held = new Set(
      readdirSync(join(stage, R2), { recursive: true, encoding: 'utf8' }).map((name) => basename(name)),
    );
    if (removed || [...after.values()].some((blob) => blob !== null && !held.has(blob))) continue;
    copyFileSync(join(stateDir, STATE_MARKER), join(stage, STATE_MARKER));
    const recipes = writtenRecipes(stateDir);
    if (existsSync(recipes)) cpSync(recipes, writtenRecipes(stage), { recursive: true });
    return;
  }
  throw new RollmeshError('retry', 'backup.moving', 'Objects were removed while they were copied.', {
    next: 'Try again: old versions are being removed at this moment.',
  });
}

/** The keys of the object store, each with the file that holds it; null where none does. */
async function indexOf(databases: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  const keys = new Map<string, string | null>();
  for (const path of databases) {
    if (basename(path) === 'metadata.sqlite') continue;
    const file = await openSqlite(path);
    try {
      for (const { key, blob_id } of file.prepare('SELECT key, blob_id FROM _mf_objects').all())
        keys.set(`${basename(path)}/${key}`, blob_id === null ? null : String(blob_id));
    } finally {
      file.close();
    }
  }
  return keys;
}

/** Copies the databases of a folder as they are at one moment each. @returns the copies */
async function copyDatabases(stateDir: string, stage: string, folder: string): Promise<string[]> {
  const { backup } = await import('node:sqlite');
  const copies: string[] = [];
  for (const path of databasesIn(join(stateDir, folder))) {
    const copy = join(stage, relative(stateDir, path));
    mkdirSync(dirname(copy), { recursive: true });
    rmSync(copy, { force: true });
    const file = await openSqlite(path);
    try {
      await backup(file, copy);
    } finally {
      file.close();
    }
    copies.push(copy);
  }
  return copies;
}

/** Links the files of all objects into the stage; a file that is there is the same, since objects are never changed. */
function linkBlobs(stateDir: string, stage: string): void {
  const root = join(stateDir, R2);
  for (const bucket of existsSync(root) ? readdirSync(root) : []) {
    const folder = join(root, bucket, 'blobs');
    if (!existsSync(folder)) continue;
    const to = join(stage, R2, bucket, 'blobs');
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(folder)) {
      if (existsSync(join(to, name))) continue;
      try {
        linkSync(join(folder, name), join(to, name));
      } catch (error) {
        // It was removed since the folder was read.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  }
}
