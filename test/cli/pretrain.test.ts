/** `pretrain` makes a version 0 in the shape that it is asked for, with a step size that suits the width. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCommand } from './terminal.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-pretrain-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function pretrain(out: string, ...options: string[]) {
  const folder = join(root, out);
  const args = ['pretrain', '--out', folder, '--steps', '1', '--threads', '1', ...options];
  const done = await runCommand('cli/rollmesh.ts', args);
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return { ...done, folder, read };
}

test('the step size falls as the width grows', async () => {
  const own = await pretrain('own', '--name', 'games');
  expect(own.read('config.json').hidden_size).toBe(64);
  expect(own.read('manifest.json').settings.learningRate).toBe(3e-3);
  const wider = await pretrain('wider', '--name', 'games', '--shape', 'micro');
  expect(wider.read('config.json').hidden_size).toBe(160);
  // 3e-3 · 64 / 160
  expect(wider.read('manifest.json').settings).toMatchObject({
    learningRate: expect.closeTo(1.2e-3, 10),
    shape: 'micro',
  });
});

test('a start that goes on from another asks for that one in the same shape', async () => {
  const { code, stderr, folder } = await pretrain('none', '--name', 'arithmetic-terse', '--shape', 'micro');
  expect(code).toBe(1);
  expect(stderr).toContain('pretrain.shape: arithmetic-terse goes on from arithmetic-base');
  expect(stderr).toContain('npx rollmesh pretrain --name arithmetic-base --shape micro --out DIR');
  expect(existsSync(folder)).toBe(false);
});

test('a start that goes on from a narrower policy begins with what that one can do', async () => {
  const { read, stdout } = await pretrain('widened', '--name', 'arithmetic-reading');
  expect(read('config.json')).toMatchObject({ hidden_size: 160, max_position_embeddings: 512 });
  // Random weights begin at ln 97, the logarithm of the vocabulary's size, or above.
  expect(Number(/loss (\S+)/.exec(stdout)![1])).toBeLessThan(1.5);
});
