/** A tiny checkpoint of each architecture is imported, trained for two rounds on a file of questions, exported, and imported again. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportCheckpoint } from '../../cli/policy/export-checkpoint.ts';
import { readImport } from '../../cli/policy/import-checkpoint.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { parseConfig } from '../../model/config.ts';
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts';
import { byteTokenizer, SMOLLM_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { TINY_ARCHITECTURES, TINY_NAMES, type TinyArchitecture } from '../model/architectures.ts';
import { randomTensors } from '../model/checkpoints.ts';
import { openPlaying, type Playing } from './playing.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-architectures-'));
const rows = Array.from({ length: 12 }, (_, i) => ({ question: `Say ${i}`, answer: '(?s).*[a-m].*' }));
writeFileSync(join(root, 'say.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** Names of policies have no underscores. */
const policyOf = (name: TinyArchitecture): string => name.replace('_', '-');

/** config.json of a checkpoint with 256 bytes and three special tokens, of which many end an answer. */
const configOf = (name: TinyArchitecture) => ({
  ...TINY_ARCHITECTURES[name],
  vocab_size: 262,
  max_position_embeddings: 256,
  torch_dtype: 'float32',
  eos_token_id: Array.from({ length: 64 }, (_, id) => id + 32),
});

async function importedFiles(name: TinyArchitecture) {
  const folder = join(root, name);
  mkdirSync(folder);
  const write = (file: string, content: object | Uint8Array) =>
    writeFileSync(join(folder, file), content instanceof Uint8Array ? content : JSON.stringify(content));
  write('config.json', configOf(name));
  const pre_tokenizer = { type: 'ByteLevel', add_prefix_space: false, use_regex: true };
  const tokenizer = byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>']);
  write('tokenizer.json', { ...tokenizer, pre_tokenizer });
  write('tokenizer_config.json', { eos_token: '<|im_end|>', chat_template: SMOLLM_TEMPLATE });
  write('model.safetensors', writeSafetensors(randomTensors(parseConfig(configOf(name)))));
  const { files } = await readImport(folder, policyOf(name), { tokenizer: true });
  const chunks: Uint8Array[] = [];
  for await (const chunk of files['model.safetensors'].read()) chunks.push(chunk);
  return { ...files, 'model.safetensors': new Uint8Array(Buffer.concat(chunks)) };
}

let playing: Playing;
let recipe: string;
beforeAll(async () => {
  const made = await taskRecipe({
    recipe: 'grpo',
    policy: policyOf(TINY_NAMES[0]!),
    tasks: [join(root, 'say.jsonl')],
    heldOut: '0.3',
    checker: 'regex',
    extract: ['whole'],
    set: ['maxNew=12', 'optimizer.learningRate=1e-3', 'optimizer.warmup=0'],
  });
  const opened = await openRecipes([await made!.write(join(root, 'recipes'))]);
  recipe = opened.named[0]!.name;
  playing = await openPlaying([], { recipes: opened.modules.map((module) => module.file) }, opened.registry);
});
afterAll(async () => {
  await playing.stop();
  rmSync(root, { recursive: true, force: true });
});

test.each(TINY_NAMES)('%s', async (name) => {
  const policy = policyOf(name);
  await playing.importPolicy(policy, await importedFiles(name));
  const { mesh, alone, before } = await playing.play({
    ...{ recipe, seed: 0, rounds: 2, freeze: [], policy, engine: 'kernels' },
    ...{ tasks: 3, groupSize: 6 },
  });
  expect(mesh).toEqual(alone);
  expect(mesh['model.safetensors']).not.toBe(before['model.safetensors']);

  const folder = join(root, `${name}-out`);
  await exportCheckpoint(playing.gateway, { name: policy, version: 2 }, folder, 'F32');
  expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))).toEqual(configOf(name));
  const exported = readSafetensors(readFileSync(join(folder, 'model.safetensors')));
  expect([...exported.keys()].sort()).toEqual([...randomTensors(parseConfig(configOf(name))).keys()].sort());
  const file = join(root, `${name}-gguf`);
  const gguf = exportCheckpoint(playing.gateway, { name: policy, version: 2 }, file, 'BF16', { gguf: true });
  if (name === 'gemma3_text') {
    // llama.cpp takes another pattern of windows for granted than the tiny Gemma has.
    await expect(gguf).rejects.toMatchObject({ code: 'export.gguf' });
    expect(existsSync(file)).toBe(false);
  } else expect(await gguf).toMatchObject({ dtype: 'BF16', files: [`${policy}-2.gguf`, 'manifest.json'] });
  expect((await readImport(folder, 'again', { tokenizer: true })).files['config.json']).toBeDefined();
});
