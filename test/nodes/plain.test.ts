/**
 * A policy without a chat template, whose answers end where a grammar finds the next question, and with more rows of embeddings than its
 * tokenizer has tokens: a node samples from it as one process does.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { openPlaying, type Playing } from '../mesh/playing.ts';
import { qwenCheckpoint } from '../mesh/qwen-checkpoint.ts';
import { startNode } from './in-process-node.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-plain-'));
let playing: Playing;
let recipe: string;
beforeAll(async () => {
  const file = join(root, 'say.jsonl');
  const rows = Array.from({ length: 20 }, (_, i) => ({ question: `Say ${i}`, answer: '(?s).*[a-m].*' }));
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const files = await taskRecipe({
    recipe: 'grpo',
    policy: 'plain',
    tasks: [file],
    heldOut: '0.2',
    checker: 'regex',
    extract: ['whole'],
    set: ['maxNew=12'],
  });
  const { registry, named, modules } = await openRecipes([await files!.write(root)]);
  recipe = named[0]!.name;
  playing = await openPlaying(
    [],
    {
      recipes: modules.map((module) => module.file),
      vars: { ISOLATES_WITH_NODES: 'rest', LEASE_SECONDS: '300' },
      cronMs: 500,
    },
    registry,
  );
  // 257 tokens, and 272 rows of embeddings.
  await playing.importPolicy('plain', qwenCheckpoint(272, ['<|endoftext|>'], { eos_token: '<|endoftext|>' }));
});
afterAll(async () => {
  await playing.stop();
  rmSync(root, { recursive: true, force: true });
});

test('a node samples until the next question, the bytes of one process', async () => {
  const { gateway, url } = playing;
  const { token } = await gateway.makeNode('plain');
  const node = await startNode(url, token);
  const order = {
    recipe,
    seed: 2,
    rounds: 1,
    freeze: [],
    tasks: 4,
    groupSize: 4,
    engine: 'kernels' as const,
    policy: 'plain',
  };
  const { mesh, alone } = await playing.play(order);
  await node.stop();
  expect(mesh).toEqual(alone);
  const [{ requests, state } = { requests: 0, state: '' }] = await gateway.listNodes();
  expect(requests).toBeGreaterThan(0);
  expect(state).toBe('away');
});
