/** The files of a local mesh's state folder at rest: which file holds which object, and which are databases and their logs. */
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const R2 = 'v3/r2';
const INDEX = `${R2}/miniflare-R2BucketObject`;
const DATABASE = 'v3/d1/miniflare-D1DatabaseObject';

/** The database in a folder that holds data: the largest one. Undefined where there is none. */
function databaseIn(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sqlite') && name !== 'metadata.sqlite')
    .map((name) => join(folder, name))
    .sort((a, b) => statSync(b).size - statSync(a).size)[0];
}

/** The index of the object store, the database, and their write-ahead logs, where they exist. */
export function databaseFiles(stateDir: string) {
  const index = databaseIn(join(stateDir, INDEX));
  const database = databaseIn(join(stateDir, DATABASE));
  const logOf = (file: string | undefined) => (file && existsSync(`${file}-wal`) ? `${file}-wal` : undefined);
  return { index, indexLog: logOf(index), database, databaseLog: logOf(database) };
}

/** Reads a database from a copy, so that its log stays as it is. */
export function readDatabase<T>(path: string, read: (database: DatabaseSync) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-index-'));
  try {
    for (const end of ['', '-wal'])
      if (existsSync(path + end)) cpSync(path + end, join(folder, basename(path) + end));
    const database = new DatabaseSync(join(folder, basename(path)));
    try {
      return read(database);
    } finally {
      database.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The objects by key, each with the file that holds it. */
export function storedObjects(stateDir: string): ReadonlyMap<string, string> {
  const { index } = databaseFiles(stateDir);
  if (!index) return new Map();
  const rows = readDatabase(index, (database) =>
    database.prepare('SELECT key, blob_id FROM _mf_objects WHERE blob_id IS NOT NULL').all(),
  );
  const blobs = blobFiles(join(stateDir, R2));
  return new Map(
    rows.flatMap(({ key, blob_id }) => {
      const file = blobs.get(String(blob_id));
      return file ? [[String(key), file] as const] : [];
    }),
  );
}

/** The files of all buckets by their names. */
function blobFiles(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const bucket of readdirSync(folder)) {
    const blobs = join(folder, bucket, 'blobs');
    if (existsSync(blobs)) for (const name of readdirSync(blobs)) files.set(name, join(blobs, name));
  }
  return files;
}
