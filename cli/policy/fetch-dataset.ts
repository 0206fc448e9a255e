/** Fetches a data set of the Hugging Face Hub: the Parquet file that the Hub makes of it, at one commit, by the cache of Hugging Face's own tools. */
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { datasetInfo, downloadFileToCacheDir, listFiles } from '@huggingface/hub';
import { wrongInput } from '../../core/errors.ts';
import { CACHES } from '../../local/mesh/installation.ts';
import { checkHash, explained, type HubOptions, hubAccess, quietly } from './hub.ts';
import { type HubDataset, PREFIX } from './hub-dataset.ts';

/** Where the Hub keeps what it converted, as CONFIG/SPLIT/0000.parquet. */
const CONVERTED = 'refs/convert/parquet';

/** The one that is named, or the one that is meant where none is. Throws `hub.files` with those that there are. */
function chosen(
  kind: string,
  found: readonly string[],
  named: string | undefined,
  usual: readonly string[],
): string {
  const all = [...new Set(found)].sort();
  const [only] = all;
  const meant = named ?? (all.length === 1 ? only : usual.find((one) => all.includes(one)));
  if (meant !== undefined && all.includes(meant)) return meant;
  throw wrongInput(
    'hub.files',
    named === undefined ? `The data set has several ${kind}s.` : `The data set has no ${kind} ${named}.`,
    {
      expected: `one of ${all.join(', ')}`,
      next: `Name it: ${PREFIX}ORG/NAME/CONFIG/SPLIT.`,
    },
  );
}

/** Fetches the set's Parquet file. @returns its path, under a name that says what it is. Throws as `fetchCheckpoint`. */
export async function fetchDataset(set: HubDataset, { env, say }: HubOptions): Promise<string> {
  const { repository } = set;
  const access = hubAccess(env);
  try {
    // What the Hub converts again meanwhile is another commit.
    const { sha } = await datasetInfo({
      ...access,
      name: repository,
      revision: CONVERTED,
      additionalFields: ['sha'],
    });
    if (!/^[\da-f]{40}$/.test(sha))
      throw wrongInput('hub.unreachable', `${access.hubUrl} names no commit of ${repository}.`, {
        expected: 'a commit of 40 hexadecimal digits',
      });
    const at = { ...access, repo: { type: 'dataset' as const, name: repository }, revision: sha };
    const files: { path: string; config: string; split: string; oid: string | undefined }[] = [];
    for await (const { path, lfs } of listFiles({ ...at, recursive: true })) {
      const [, config, split] = /^(\w[\w.-]{0,95})\/(\w[\w.-]{0,95})\/\d+\.parquet$/.exec(path) ?? [];
      if (config !== undefined && split !== undefined) files.push({ path, config, split, oid: lfs?.oid });
    }
    if (files.length === 0)
      throw wrongInput('hub.files', `The Hub has no Parquet file of ${repository}.`, {
        expected: 'a data set that the Hub can show',
        next: 'Fetch its files, and name them by --tasks FILE.',
      });
    const config = chosen(
      'config',
      files.map((file) => file.config),
      set.config,
      ['default', 'main'],
    );
    const ofConfig = files.filter((file) => file.config === config);
    const split = chosen(
      'split',
      ofConfig.map((file) => file.split),
      set.split,
      ['train'],
    );
    const [file, ...more] = ofConfig.filter((one) => one.split === split);
    if (!file || more.length)
      throw wrongInput('hub.files', `${config}/${split} of ${repository} has ${1 + more.length} files.`, {
        expected: 'a set of one Parquet file',
        next: 'Fetch them, and name those to train on by a --tasks of its own each.',
      });
    say(`${repository}: ${file.path}`);
    const cached = await quietly(() => downloadFileToCacheDir({ ...at, path: file.path }));
    await checkHash(cached, file.path, file.oid);
    const folder = join(CACHES, 'rollmesh', 'datasets', sha);
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${repository.split('/')[1]}-${config}-${split}.parquet`);
    await copyFile(cached, `${path}.${process.pid}`);
    await rename(`${path}.${process.pid}`, path);
    return path;
  } catch (error) {
    throw explained(error, { repository, revision: CONVERTED }, access.hubUrl);
  }
}
