import { mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readImport } from '../../cli/policy/import-checkpoint.ts';
import { readTokenLines } from '../../cli/policy/token-lines.ts';
import { readSafetensors, type Tensors, writeSafetensors } from '../../model/safetensors.ts';
import { oracle } from '../model/checkpoints.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-import-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

/** A copy of the seed policy, or of a reference checkpoint with the seed's tokenizer, to break something in. */
async function copy(): Promise<string> {
  const folder = join(root, String(folders++));
  await mkdir(folder);
  for (const file of ['config.json', 'tokenizer.json', 'model.safetensors'])
    await cp(join('models/seed', file), join(folder, file));
  return folder;
}

const editJson = async (path: string, edit: (json: Record<string, unknown>) => void) => {
  const json = JSON.parse(await readFile(path, 'utf8'));
  edit(json);
  await writeFile(path, JSON.stringify(json));
};
const editConfig = (edit: (json: Record<string, unknown>) => void) => (folder: string) =>
  editJson(join(folder, 'config.json'), edit);
const editWeights = (edit: (tensors: Tensors) => void) => async (folder: string) => {
  const path = join(folder, 'model.safetensors');
  const tensors = readSafetensors(await readFile(path));
  edit(tensors);
  await writeFile(path, writeSafetensors(tensors));
};
const NORM = 'model.layers.1.input_layernorm.weight';

test('the untouched copy is accepted, with and without its tokenizer', async () => {
  const folder = await copy();
  const { files } = await readImport(folder, 'fine', { tokenizer: true });
  expect(Object.keys(files)).toEqual(['config.json', 'tokenizer.json', 'model.safetensors']);
  const without = await readImport(folder, 'fine', { tokenizer: false });
  expect(Object.keys(without.files)).toEqual(['config.json', 'model.safetensors']);
});

test('a template and ends of their own files become part of the version', async () => {
  const folder = await copy();
  await writeFile(join(folder, 'chat_template.jinja'), '{{ messages[0].content }}');
  await writeFile(join(folder, 'tokenizer_config.json'), '{"eos_token": "<eos>"}');
  await writeFile(join(folder, 'generation_config.json'), '{"eos_token_id": [12, 7], "temperature": 0.7}');
  const { files } = await readImport(folder, 'chat', { tokenizer: true });
  const json = (file: 'config.json' | 'tokenizer_config.json') =>
    JSON.parse(new TextDecoder().decode(files[file]));
  expect(json('tokenizer_config.json')).toEqual({
    eos_token: '<eos>',
    chat_template: '{{ messages[0].content }}',
  });
  expect(json('config.json').eos_token_id).toEqual([12, 7]);
});

type Break = (folder: string) => Promise<unknown>;
const cases: [what: string, code: string, says: string, damage: Break][] = [
  ['a missing folder', 'checkpoint.files', 'config.json', (folder) => rm(folder, { recursive: true })],
  ['no config', 'checkpoint.files', 'config.json', (folder) => rm(join(folder, 'config.json'))],
  ['a config that is not JSON', 'file.json', 'config.json', (f) => writeFile(join(f, 'config.json'), '{')],
  ['an empty config', 'config.invalid', 'model_type', (f) => writeFile(join(f, 'config.json'), '{}')],
  [
    'another architecture',
    'config.unsupported',
    '"mamba"',
    editConfig((json) => Object.assign(json, { model_type: 'mamba' })),
  ],
  [
    'a model too large',
    'checkpoint.size',
    'bytes in float32',
    editConfig((json) => Object.assign(json, { vocab_size: 1e6 })),
  ],
  [
    'an end beyond the vocabulary',
    'config.invalid',
    'token 97',
    editConfig((json) => Object.assign(json, { eos_token_id: 97 })),
  ],
  ['no weights', 'checkpoint.files', 'No weights', (f) => rm(join(f, 'model.safetensors'))],
  ['a missing tensor', 'checkpoint.missing', NORM, editWeights((tensors) => tensors.delete(NORM))],
  [
    'a tensor of another shape',
    'checkpoint.shape',
    NORM,
    editWeights((tensors) => tensors.set(NORM, { shape: [63], data: new Float32Array(63) })),
  ],
  [
    'a tensor too many',
    'checkpoint.unexpected',
    'model.extra',
    editWeights((tensors) => tensors.set('model.extra', { shape: [1], data: new Float32Array(1) })),
  ],
  [
    'a weight that is no number',
    'checkpoint.not-finite',
    NORM,
    editWeights((tensors) => tensors.get(NORM)!.data.fill(Number.NaN, 5, 6)),
  ],
  [
    'weights cut off',
    'safetensors.invalid',
    'cut off',
    (f) => truncate(join(f, 'model.safetensors'), 700_000),
  ],
  [
    'weights cut off in the header',
    'safetensors.invalid',
    'cut off',
    (f) => truncate(join(f, 'model.safetensors'), 100),
  ],
  ['empty weights', 'safetensors.invalid', '0 bytes', (f) => truncate(join(f, 'model.safetensors'), 0)],
  ['no tokenizer', 'tokenizer.missing', '--no-tokenizer', (f) => rm(join(f, 'tokenizer.json'))],
  [
    'a tokenizer that is none',
    'tokenizer.json',
    'tokenizer.json',
    (f) => writeFile(join(f, 'tokenizer.json'), '{"a": 1}'),
  ],
  [
    'a tokenizer that is not JSON',
    'file.json',
    'tokenizer.json',
    (f) => writeFile(join(f, 'tokenizer.json'), 'vocab'),
  ],
  [
    'a tokenizer with a config that is none',
    'tokenizer.config',
    'tokenizer_config.json',
    (f) => writeFile(join(f, 'tokenizer_config.json'), '[]'),
  ],
  [
    'a tokenizer of another model, larger',
    'checkpoint.tokenizer',
    'ids up to 500',
    (f) =>
      editJson(join(f, 'tokenizer.json'), (json) =>
        (json.added_tokens as object[]).push({
          ...(json.added_tokens as object[])[0],
          id: 500,
          content: '<x>',
        }),
      ),
  ],
  [
    'a shard that is not there',
    'checkpoint.files',
    'model-00001-of-00002.safetensors',
    async (f) => {
      await rm(join(f, 'model.safetensors'));
      const index = { weight_map: { 'model.norm.weight': 'model-00001-of-00002.safetensors' } };
      await writeFile(join(f, 'model.safetensors.index.json'), JSON.stringify(index));
    },
  ],
  [
    'an index that leads out of the folder',
    'checkpoint.files',
    'No weights',
    async (f) => {
      await rm(join(f, 'model.safetensors'));
      const index = { weight_map: { 'model.norm.weight': '../0/model.safetensors' } };
      await writeFile(join(f, 'model.safetensors.index.json'), JSON.stringify(index));
    },
  ],
];

test.each(cases)('%s', async (_, code, says, damage) => {
  const folder = await copy();
  await damage(folder);
  await expect(readImport(folder, 'broken', { tokenizer: true })).rejects.toMatchObject({
    name: 'RollmeshError',
    code,
    message: expect.stringContaining(says),
  });
});

test('a tokenizer that ends before the end token is of another model', async () => {
  const folder = await copy();
  // The reference checkpoint has 67 tokens; only 60 of them are in this tokenizer.
  const vocab = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [String.fromCharCode(0x100 + i), i]));
  await cp('test/oracle/models/llama/model.safetensors', join(folder, 'model.safetensors'));
  const config = JSON.parse(await readFile('test/oracle/models/llama/config.json', 'utf8'));
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...config, eos_token_id: 66 }));
  await editJson(join(folder, 'tokenizer.json'), (json) => {
    json.added_tokens = [];
    Object.assign(json.model as object, { vocab, unk_token: null });
  });
  await expect(readImport(folder, 'broken', { tokenizer: true })).rejects.toMatchObject({
    code: 'checkpoint.tokenizer',
  });
});

test.each(['', 'Upper', 'a/b', '../a', '-a', 'a-', 'a b', 'x'.repeat(65)])('the name %j', async (name) => {
  await expect(readImport('models/seed', name, { tokenizer: true })).rejects.toMatchObject({
    code: 'policy.name',
  });
});

describe('lines of token ids', () => {
  const { config } = oracle('llama');
  const read = async (text: string, more?: number) => {
    const path = join(root, 'ids.jsonl');
    await writeFile(path, text);
    return readTokenLines(path, config, more);
  };

  test('with and without an end of the last line', async () => {
    expect(await read('[1, 2]\n[66]')).toEqual([[1, 2], [66]]);
    expect(await read('[1]\r\n[2]\r\n')).toEqual([[1], [2]]);
    expect(await read(`[${Array(100).fill(1)}]`, 28)).toHaveLength(1);
  });

  test.each([
    ['[1]\n\n[2]\n', 'Line 2: it is empty.'],
    ['[1]\n[2', 'Line 2: it is not JSON.'],
    ['5', 'Line 1: it is no array of token ids.'],
    ['[1]\n[]', 'Line 2: it is no array of token ids.'],
    ['[1.5]', 'Line 1: it is no array of token ids.'],
    ['[-1]', 'Line 1: it is no array of token ids.'],
    ['["1"]', 'Line 1: it is no array of token ids.'],
    ['[1]\n[3, 67]', 'Line 2: token 67 is not in the vocabulary.'],
    [`[${Array(129).fill(1)}]`, 'Line 1: 129 tokens are too many.'],
  ])('%j', async (text, message) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'ids.line',
      message: expect.stringContaining(message),
    });
  });

  test('no room for new tokens, no lines, no file, no text', async () => {
    await expect(read(`[${Array(100).fill(1)}]`, 29)).rejects.toMatchObject({ code: 'ids.line' });
    await expect(read('')).rejects.toMatchObject({ code: 'file.empty' });
    await expect(readTokenLines(join(root, 'none.jsonl'), config)).rejects.toMatchObject({
      code: 'file.unreadable',
      message: expect.stringContaining('ENOENT'),
    });
    await writeFile(join(root, 'latin.jsonl'), Uint8Array.of(0x5b, 0xff, 0x5d));
    await expect(readTokenLines(join(root, 'latin.jsonl'), config)).rejects.toMatchObject({
      code: 'file.encoding',
    });
  });
});
