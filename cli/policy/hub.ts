/** Fetches a checkpoint from the Hugging Face Hub into the cache that Hugging Face's own tools keep on this machine. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, realpath, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { downloadFileToCacheDir, HubApiError, listFiles, modelInfo, pathsInfo } from '@huggingface/hub';
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { errnoOf, parseJson } from './files.ts';
import type { HubModel } from './hub-model.ts';

/** The files of a checkpoint besides its weights. All but the first may be missing there. */
const TEXTS = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
];
/** A folder with a file for each further template, and the most of them that are fetched. */
const TEMPLATES = 'additional_chat_templates';
const TEMPLATE = /^additional_chat_templates\/[\w.-]{1,100}\.jinja$/;
const MOST_TEMPLATES = 32;
const WEIGHTS = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';
const HUB = 'https://huggingface.co';

const shardIndex = v.object({
  weight_map: v.record(v.string(), v.pipe(v.string(), v.regex(/^[\w-][\w.-]{0,200}\.safetensors$/))),
});

export interface HubOptions {
  /** Where `HF_ENDPOINT` and `HF_TOKEN` are read. The library finds the cache by `HF_HUB_CACHE` and `HF_HOME` of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes lines about what is fetched or published. */
  readonly say: (line: string) => void;
}

export interface Fetched {
  /** The folder of the commit in the cache. */
  readonly folder: string;
  /** `hf:ORG/NAME@COMMIT` */
  readonly origin: string;
}

/** The address of the Hub, and the token where there is one. Throws `hub.token` for what cannot be one. */
export function hubAccess(env: HubOptions['env']): {
  readonly hubUrl: string;
  readonly accessToken?: string;
} {
  const hubUrl = (env.HF_ENDPOINT ?? HUB).replace(/\/+$/, '');
  const accessToken = env.HF_TOKEN || undefined;
  if (accessToken !== undefined && !accessToken.startsWith('hf_'))
    throw wrongInput('hub.token', 'HF_TOKEN is no token of the Hub.', {
      expected: 'a text that begins with hf_, or no HF_TOKEN for a public model',
    });
  return { hubUrl, ...(accessToken === undefined ? {} : { accessToken }) };
}

/**
 * Fetches what an import reads of a checkpoint, and nothing else. Files that the cache has are not fetched again. Weights are held against
 * the SHA-256 that the Hub has of them.
 *
 * @throws RollmeshError `hub.refused`, `hub.unreachable`, `hub.files`, `hub.hash`, `hub.token` or `hub.cache`
 */
export async function fetchCheckpoint(model: HubModel, { env, say }: HubOptions): Promise<Fetched> {
  const { repository } = model;
  const access = hubAccess(env);
  const { hubUrl } = access;
  try {
    const { sha } = await modelInfo({
      ...access,
      name: repository,
      revision: model.revision,
      additionalFields: ['sha'],
    });
    if (!/^[\da-f]{40}$/.test(sha))
      throw wrongInput(
        'hub.unreachable',
        `${hubUrl} names no commit of ${repository}: ${JSON.stringify(sha)}.`,
        {
          expected: 'a commit of 40 hexadecimal digits, as the Hub and its mirrors answer',
        },
      );
    const at = { ...access, repo: repository, revision: sha };
    const get = async (path: string) => {
      say(`${repository}: ${path}`);
      return quietly(() => downloadFileToCacheDir({ ...at, path }));
    };
    const found = await pathsInfo({ ...at, paths: [...TEXTS, TEMPLATES, WEIGHTS, INDEX] });
    const has = (path: string) => found.some((file) => file.path === path);
    if (!has('config.json') || !(has(WEIGHTS) || has(INDEX)))
      throw wrongInput('hub.files', `${repository} has no ${has('config.json') ? WEIGHTS : 'config.json'}.`, {
        expected: `a checkpoint with config.json, tokenizer.json and ${WEIGHTS}, or its shards`,
        next: 'Choose a repository in that form: GGUF and PyTorch files are not read.',
      });
    const templates: string[] = [];
    if (has(TEMPLATES))
      for await (const { type, path } of listFiles({ ...at, path: TEMPLATES }))
        if (type === 'file' && TEMPLATE.test(path) && templates.length < MOST_TEMPLATES) templates.push(path);
    for (const path of [...TEXTS.filter(has), ...templates]) await get(path);
    const weights = has(WEIGHTS) ? [WEIGHTS] : await shardsOf(await get(INDEX));
    const hashes = await pathsInfo({ ...at, paths: weights });
    let folder = '';
    for (const path of weights) {
      const file = await get(path);
      await checkHash(file, path, hashes.find((about) => about.path === path)?.lfs?.oid);
      folder = dirname(file);
    }
    return { folder, origin: `hf:${repository}@${sha}` };
  } catch (error) {
    throw explained(error, model, hubUrl);
  }
}

async function shardsOf(path: string): Promise<string[]> {
  const index = v.safeParse(shardIndex, parseJson(new Uint8Array(await readFile(path)), path));
  if (index.success) return [...new Set(Object.values(index.output.weight_map))].sort();
  throw wrongInput('hub.files', `${basename(path)} does not name the shards of the weights.`, {
    expected: 'a weight_map of tensors to files beside it',
  });
}

/** A file that is not what the Hub says is removed with the blob behind it, so that it is fetched anew. */
export async function checkHash(file: string, name: string, expected: string | undefined): Promise<void> {
  if (expected === undefined) return;
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found === expected) return;
  await rm(await realpath(file), { force: true });
  await rm(file, { force: true });
  throw wrongInput('hub.hash', `${name} was fetched with sha256 ${found}.`, {
    expected: `sha256 ${expected}, which the Hub has of it`,
    next: 'Run the command again: the damaged file was removed.',
  });
}

/** The library tells of downloads on stdout, which is kept for results. */
export async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { debug } = console;
  console.debug = () => {};
  try {
    return await work();
  } finally {
    console.debug = debug;
  }
}

export function explained(error: unknown, { repository, revision }: HubModel, hubUrl: string): unknown {
  if (error instanceof HubApiError) {
    const { statusCode } = error;
    if ([401, 403, 404].includes(statusCode))
      return wrongInput(
        'hub.refused',
        `${hubUrl} does not give ${repository}@${revision}: status ${statusCode}.`,
        {
          expected: 'what is public, or what the token in HF_TOKEN may read',
          next: 'Look at the name. What is gated wants its terms accepted on its page, and a token.',
          cause: error,
        },
      );
    return wrongInput('hub.unreachable', `${hubUrl} answers with status ${statusCode}.`, { cause: error });
  }
  if (error instanceof RollmeshError) return error;
  const code = errnoOf(error);
  if (code !== undefined)
    return wrongInput('hub.cache', `The files of ${repository} cannot be kept: ${code}.`, {
      expected: 'a cache folder with room (HF_HOME, or ~/.cache/huggingface)',
      cause: error,
    });
  if (error instanceof TypeError && error.message === 'fetch failed')
    return wrongInput('hub.unreachable', `${hubUrl} cannot be reached.`, {
      expected: 'an answer of the Hub, or of the mirror in HF_ENDPOINT',
      next: 'Fetch the files where there is a network, and name them here.',
      cause: error,
    });
  // What is left: an answer that broke off, or that is not what the Hub answers.
  return wrongInput(
    'hub.unreachable',
    `${hubUrl} broke off, or sent what cannot be read: ${error instanceof Error ? error.message : error}.`,
    {
      expected: 'the files that were asked for',
      next: 'Run the command again: files that came whole are not fetched again.',
      cause: error,
    },
  );
}
