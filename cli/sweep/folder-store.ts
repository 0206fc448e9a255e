/** Keeps a run's versions and records as files, so that a sweep that was stopped goes on where it stood. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RollmeshError } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { fileEntries, type VersionFiles } from '../../core/schema/policy.ts';
import type { RunStore } from '../../local/run/run-store.ts';

const numbered = (names: readonly string[]) => names.filter((name) => /^\d+$/.test(name)).map(Number);

export class FolderRunStore implements RunStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  versionFolder({ name, version }: PolicyRef): string {
    return join(this.#folder, 'versions', name, String(version));
  }

  hasVersion(ref: PolicyRef): boolean {
    return existsSync(this.versionFolder(ref));
  }

  async loadVersion(ref: PolicyRef): Promise<VersionFiles> {
    const folder = this.versionFolder(ref);
    const names = await readdir(folder).catch(() => {
      throw new RollmeshError(
        'missing-version',
        'policy.missing',
        `Policy ${ref.name} has no version ${ref.version}.`,
      );
    });
    const files = await Promise.all(
      names.map(async (name) => [name, new Uint8Array(await readFile(join(folder, name)))] as const),
    );
    return Object.fromEntries(files) as VersionFiles;
  }

  async commitVersion(ref: PolicyRef, files: VersionFiles): Promise<void> {
    const folder = this.versionFolder(ref);
    // A run that was ended between a version and its record plays the round again, to the same bytes.
    if (this.hasVersion(ref)) return;
    const unfinished = `${folder}.writing`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    for (const [name, bytes] of fileEntries(files)) await writeFile(join(unfinished, name), bytes);
    // A version is there whole, or not at all.
    await rename(unfinished, folder);
  }

  async currentVersion(policy: string): Promise<number | null> {
    const there = numbered(await readdir(join(this.#folder, 'versions', policy)).catch(() => []));
    return there.length ? Math.max(...there) : null;
  }

  async putRecord(key: string, value: unknown): Promise<void> {
    const path = this.#record(key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.writing`, JSON.stringify(value));
    await rename(`${path}.writing`, path);
  }

  async getRecord(key: string): Promise<unknown> {
    const text = await readFile(this.#record(key), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  /** Removes all versions and records. */
  async clear(): Promise<void> {
    for (const part of ['versions', 'records'])
      await rm(join(this.#folder, part), { recursive: true, force: true });
  }

  /** Removes everything but the last version of the policy, whose folder it returns. */
  async keepLast(policy: string): Promise<string> {
    const last = (await this.currentVersion(policy))!;
    const versions = join(this.#folder, 'versions', policy);
    for (const version of numbered(await readdir(versions)))
      if (version !== last) await rm(join(versions, String(version)), { recursive: true });
    await rm(join(this.#folder, 'records'), { recursive: true, force: true });
    return this.versionFolder({ name: policy, version: last });
  }

  #record(key: string): string {
    return join(this.#folder, 'records', `${key.replaceAll('/', '_')}.json`);
  }
}
