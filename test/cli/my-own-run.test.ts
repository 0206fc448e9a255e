/**
 * docs/my-own-run.md as a reader follows it: the files of the page in a folder, and its commands as they stand there, one after the
 * other, each as a process of its own. `npx rollmesh start` brings up a mesh and a learner, which no shorter test does with an imported checkpoint and
 * a reward of one's own. Only the port is chosen, since another mesh may run on this machine.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { installed, NODE_FLAGS } from '../../local/mesh/installation.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { writeSafetensors } from '../../model/safetensors.ts';
import { byteTokenizer, SMOLLM_TEMPLATE } from '../core/renderer/checkpoints.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-own-run-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const blocks = [...readFileSync('docs/my-own-run.md', 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(
  ([, kind, text]) => ({ kind, text: text! }),
);
const blocksOf = (wanted: string) =>
  blocks.filter(({ kind }) => kind === wanted).map(({ text }) => text.trim());

/** Runs a line of the page, `npx rollmesh …`, in the folder, and returns what it prints. */
async function run(line: string, ...more: string[]): Promise<string> {
  const [, words] = /^npx rollmesh (.+)$/.exec(line) ?? [];
  expect(words, line).toBeDefined();
  const args = [...NODE_FLAGS, installed('cli/rollmesh.ts'), ...words!.split(' '), ...more];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  return stdout;
}

test('every command of the page does what the page says', async () => {
  const checkpoint = join(folder, 'my-checkpoint');
  mkdirSync(checkpoint);
  const write = (path: string, content: string | Uint8Array) => writeFileSync(join(folder, path), content);
  const [train, held] = blocksOf('jsonl');
  write('train.jsonl', `${train}\n`);
  write('test.jsonl', `${held}\n`);
  write('close.ts', blocksOf('ts')[0]!);
  // In place of a checkpoint of the reader's: one with random weights.
  const config = smallConfig({ vocab_size: 262, max_position_embeddings: 256 });
  const tokenizer = byteTokenizer(['<|endoftext|>', '<|im_start|>', '<|im_end|>']);
  write('my-checkpoint/config.json', JSON.stringify(toHfConfig(config)));
  write('my-checkpoint/tokenizer.json', JSON.stringify(tokenizer));
  write(
    'my-checkpoint/tokenizer_config.json',
    JSON.stringify({ eos_token: '<|im_end|>', chat_template: SMOLLM_TEMPLATE }),
  );
  write('my-checkpoint/model.safetensors', writeSafetensors(randomTensors(config)));

  const commands = blocksOf('sh');
  expect(commands).toHaveLength(5);
  const [imported, before, start, after, exported] = commands as [string, string, string, string, string];
  expect(await run(imported)).toContain('mine');
  expect(await run(before)).toContain('mine 0 on 2 questions');

  const trained = await run(start, '--port', '0');
  expect(trained).toMatch(/^watch it at http/m);
  expect(trained).toMatch(/^1\/2 [\s\S]*^2\/2 /m);

  expect(await run(after)).toMatch(/mine 2 on 2 questions[\s\S]*version 0/);
  await run(exported);
  expect(readdirSync(join(folder, 'trained'))).toEqual(
    expect.arrayContaining(['config.json', 'model.safetensors', 'tokenizer_config.json']),
  );
  // What was exported is a checkpoint that can be imported.
  expect(await run('npx rollmesh policy import trained --name mine-again')).toContain('mine-again');
});
