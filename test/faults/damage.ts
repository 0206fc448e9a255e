/** Damage at rest: what a file of a state folder may suffer, and which files a run stands on. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Random } from '../../core/random.ts';
import { databaseFiles, storedObjects } from './stored-files.ts';

/** One byte is turned, the second half is cut off, or the file is gone. */
export const DAMAGES = ['byte', 'half', 'missing'] as const;
export type Damage = (typeof DAMAGES)[number];

/** What the file holds. */
export const DAMAGE_TARGETS = [
  'record',
  'manifest',
  'weights',
  'optimiser',
  'tokenizer',
  'index of the objects',
  'log of the index',
  'database',
  'log of the database',
] as const;
export type DamageTarget = (typeof DAMAGE_TARGETS)[number];

/** Is the file a database or its log, rather than an object that the mesh checks by its hash? */
export const isDatabase = (target: DamageTarget) => /index|database/.test(target);

/** The file of a state folder at rest that holds the target, by random choice where several do; undefined where none does. */
export function fileOf(
  stateDir: string,
  policy: string,
  target: DamageTarget,
  random: Random,
): { readonly name: string; readonly path: string } | undefined {
  const { index, indexLog, database, databaseLog } = databaseFiles(stateDir);
  const named = (path: string | undefined) => (path ? { name: target, path } : undefined);
  if (target === 'index of the objects') return named(index);
  if (target === 'log of the index') return named(indexLog);
  if (target === 'database') return named(database);
  if (target === 'log of the database') return named(databaseLog);
  const objects = [...storedObjects(stateDir)].map(([name, path]) => ({ name, path }));
  const ofRun = (end: string) =>
    objects
      .filter(({ name }) => name.startsWith(`policies/${policy}/`) && name.endsWith(`/${end}`))
      .sort((a, b) => Number(b.name.split('/')[2]) - Number(a.name.split('/')[2]));
  if (target === 'manifest') return ofRun('manifest.json')[0];
  if (target === 'weights') return ofRun('model.safetensors')[0];
  if (target === 'optimiser') return ofRun('optimizer.safetensors')[0];
  if (target === 'tokenizer') return ofRun('tokenizer.json').at(-1);
  const records = objects
    .filter(({ name }) => name.startsWith('rounds/'))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return records.length ? random.pick(records) : undefined;
}

/** Damages a file. @returns a function that puts the file back as it was */
export function damageFile(path: string, damage: Damage, random: Random): () => void {
  const before = readFileSync(path);
  if (damage === 'missing') rmSync(path);
  else if (damage === 'half') writeFileSync(path, before.subarray(0, before.length >> 1));
  else {
    const bytes = Buffer.from(before);
    const at = random.int(bytes.length);
    bytes[at] = bytes[at]! ^ (1 << random.int(8));
    writeFileSync(path, bytes);
  }
  return () => {
    if (!existsSync(path) || !readFileSync(path).equals(before)) writeFileSync(path, before);
  };
}
