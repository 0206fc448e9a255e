import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readImport } from '../../../cli/policy/import-checkpoint.ts';
import { readTokenLines } from '../../../cli/policy/token-lines.ts';
import { refuseSlowTokenizer } from '../../../cli/policy/tokenizer-probe.ts';
import { readSafetensors, type Tensors, writeSafetensors } from '../../../model/safetensors.ts';
import { oracle } from '../../model/checkpoints.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-import-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

/** A copy of the start policy, or of a reference checkpoint with the seed's tokenizer, to break something in. */
async function copy(): Promise<string> {
  const folder = join(root, String(folders++));
  await mkdir(folder);
  for (const file of ['config.json', 'tokenizer.json', 'model.safetensors'])
    await cp(join('models/arithmetic-base', file), join(folder, file));
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

/** A file of safetensors: the header's length, the header, and so many bytes. */
function withLength(header: Uint8Array, bytes = 0): Uint8Array {
  const file = new Uint8Array(8 + header.length + bytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  return file;
}

const splitBy = (pattern: string) => ({
  type: 'Split',
  pattern: { Regex: pattern },
  behavior: 'Isolated',
  invert: false,
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
  expect(json('config.json').as_imported.generation_config).toEqual({
    eos_token_id: [12, 7],
    temperature: 0.7,
  });
});

type Break = (folder: string) => Promise<unknown>;
const cases: [what: string, code: string, description: string, damage: Break][] = [
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
    'an end beyond the vocabulary',
    'config.invalid',
    'token 97',
    editConfig((json) => Object.assign(json, { eos_token_id: 97 })),
  ],
  ...(
    [
      ['num_hidden_layers', 1e12],
      ['num_hidden_layers', 1e7],
      ['vocab_size', Number.POSITIVE_INFINITY],
      ['hidden_size', 1e9],
      ['num_attention_heads', 1e6],
      ['num_key_value_heads', 1e6],
      ['max_position_embeddings', 1e15],
      ['eos_token_id', Array.from({ length: 1e5 }, () => 1)],
    ] as const
  ).map(([field, value]): (typeof cases)[number] => [
    `${field} without measure, ${String(value).slice(0, 9)}`,
    'config.invalid',
    field,
    // JSON has no infinity, but a number that is read as one.
    async (f) => {
      await editConfig((json) =>
        Object.assign(json, { [field]: value === Number.POSITIVE_INFINITY ? 'HUGE' : value }),
      )(f);
      const text = await readFile(join(f, 'config.json'), 'utf8');
      await writeFile(join(f, 'config.json'), text.replace('"HUGE"', '1e400'));
    },
  ]),
  [
    'weights that are a pipe',
    'file.kind',
    'model.safetensors is no regular file',
    async (f) => {
      await rm(join(f, 'model.safetensors'));
      execFileSync('mkfifo', [join(f, 'model.safetensors')]);
    },
  ],
  [
    'a config that is a link to a device',
    'file.kind',
    'config.json is no regular file',
    async (f) => {
      await rm(join(f, 'config.json'));
      await symlink('/dev/zero', join(f, 'config.json'));
    },
  ],
  [
    'three gigabytes, most of them after the last tensor',
    'safetensors.invalid',
    'model.safetensors has 3000000000 bytes, and its tensors end at',
    // Sparse: no byte of it is written.
    (f) => truncate(join(f, 'model.safetensors'), 3e9),
  ],
  [
    'a header of sixty megabytes',
    'safetensors.invalid',
    'more than the 16777216 that are read',
    async (f) => {
      const path = join(f, 'model.safetensors');
      const length = new Uint8Array(8);
      new DataView(length.buffer).setBigUint64(0, 60_000_000n, true);
      await writeFile(path, length);
      await truncate(path, 60_000_008);
    },
  ],
  [
    'fifty thousand tensors',
    'safetensors.invalid',
    'names 50000 tensors',
    async (f) => {
      const header = new TextEncoder().encode(
        JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`t${i}`, 0]))),
      );
      await writeFile(join(f, 'model.safetensors'), withLength(header));
    },
  ],
  [
    'tensors that share bytes',
    'safetensors.invalid',
    'share bytes',
    async (f) => {
      const tensor = (from: number) => ({ dtype: 'F32', shape: [2], data_offsets: [from, from + 8] });
      const header = new TextEncoder().encode(JSON.stringify({ a: tensor(0), b: tensor(4) }));
      await writeFile(join(f, 'model.safetensors'), withLength(header, 12));
    },
  ],
  [
    'a tensor in fewer bytes than its shape needs',
    'safetensors.invalid',
    'Tensor a [4] of F32 lies in 8 bytes',
    async (f) => {
      const tensor = { dtype: 'F32', shape: [4], data_offsets: [0, 8] };
      const header = new TextEncoder().encode(JSON.stringify({ a: tensor }));
      await writeFile(join(f, 'model.safetensors'), withLength(header, 8));
    },
  ],
  [
    'a tokenizer whose pattern backtracks for ever',
    'tokenizer.slow',
    '(a+)+$',
    (f) =>
      editJson(join(f, 'tokenizer.json'), (json) =>
        Object.assign(json, { pre_tokenizer: splitBy('(a+)+$') }),
      ),
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

test.each(cases)('%s', async (_, code, description, damage) => {
  const folder = await copy();
  await damage(folder);
  await expect(readImport(folder, 'broken', { tokenizer: true })).rejects.toMatchObject({
    name: 'RollmeshError',
    code,
    message: expect.stringContaining(description),
  });
});

describe('patterns of tokenizers', () => {
  // Each with the tokenizers that it is from.
  const used = {
    'GPT-2': String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    'Llama 3, Qwen': String.raw`(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
    o200k: String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  };
  const withPattern = async (pattern: string) => ({
    ...JSON.parse(await readFile('models/arithmetic-base/tokenizer.json', 'utf8')),
    pre_tokenizer: splitBy(pattern),
  });

  test.each(Object.entries(used))('those in use are quick: %s', async (_, pattern) => {
    expect(() => new RegExp(pattern, 'gu')).not.toThrow();
    refuseSlowTokenizer(await withPattern(pattern), {});
  });

  test.each([
    ['nested', String.raw`(\w+\s?)+$`],
    ['overlapping classes', String.raw`(\p{L}|\p{Ll})*!`],
    ['overlapping words', '(abcde|ab|cde)*!'],
    ['of the fourth degree', String.raw`\s*\s*\s*\s*x`],
  ])('a slow one is refused: %s', async (_, pattern) => {
    const json = await withPattern(pattern);
    expect(() => refuseSlowTokenizer(json, {}, 400)).toThrowError(
      expect.objectContaining({ code: 'tokenizer.slow' }),
    );
  });

  test('one in a normaliser, which added tokens already go through', () => {
    const json = JSON.parse(readFileSync('models/arithmetic-base/tokenizer.json', 'utf8'));
    json.normalizer = { type: 'Replace', pattern: { Regex: '(a+)+$' }, content: '' };
    json.added_tokens = [{ ...json.added_tokens[0], content: `${'a'.repeat(40)}!`, normalized: true }];
    expect(() => refuseSlowTokenizer(json, {}, 500)).toThrowError(
      expect.objectContaining({
        code: 'tokenizer.slow',
        message: expect.stringContaining('its added tokens'),
      }),
    );
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

test('the folder of a version with an adapter, whose weights lack it', async () => {
  const folder = await copy();
  await writeFile(join(folder, 'main.adapter.safetensors'), '');
  await expect(readImport(folder, 'broken', { tokenizer: true })).rejects.toMatchObject({
    code: 'checkpoint.adapter',
    what: `${folder} has an adapter, main.adapter.safetensors, apart from its weights.`,
  });
});

test.each(['', 'Upper', 'a/b', '../a', '-a', 'a-', 'a b', 'x'.repeat(65)])('the name %j', async (name) => {
  await expect(readImport('models/arithmetic-base', name, { tokenizer: true })).rejects.toMatchObject({
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
