/** An import that is killed at any moment leaves nothing that the next one cannot complete. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../../mesh/installation.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-import-killed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly status: number | null;
  readonly said: string;
}

/** `policy import` of a reference checkpoint. */
const importing = (state: string, killedAfterMs?: number): Promise<Ended> =>
  policyUntil(killedAfterMs, [
    'import',
    'test/oracle/models/qwen3',
    '--name',
    'qwen3',
    '--no-tokenizer',
    '--state',
    state,
  ]);

const policy = (...args: readonly string[]): Promise<Ended> => policyUntil(undefined, args);

/** A command in a process group of its own, since it starts a mesh. */
function policyUntil(killedAfterMs: number | undefined, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [...NODE_FLAGS, 'cli/rollmesh.ts', 'policy', ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Uint8Array) => {
      said += new TextDecoder().decode(chunk);
    });
  const timer =
    killedAfterMs === undefined
      ? undefined
      : setTimeout(() => {
          if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL');
        }, killedAfterMs);
  return new Promise((resolve) =>
    child.once('close', (status) => {
      clearTimeout(timer);
      resolve({ status, said });
    }),
  );
}

test('killed at five moments, the next import stores the version', async () => {
  const begun = performance.now();
  const whole = await importing(join(folder, 'reference'));
  const took = performance.now() - begun;
  const ids = join(folder, 'ids.jsonl');
  writeFileSync(ids, '[5, 17, 3]\n');
  const reference = await policy(
    'score',
    'qwen3',
    '0',
    '--ids',
    ids,
    '--state',
    join(folder, 'reference'),
    '--json',
  );
  expect(reference).toMatchObject({ status: 0 });
  expect(whole.said).toContain('qwen3 0:');
  expect(whole.status).toBe(0);
  for (const part of [0.3, 0.5, 0.7, 0.85, 0.95]) {
    const state = join(folder, `killed-${part}`);
    await importing(state, part * took);
    const second = await importing(state);
    // Where the first was killed after its commit, its version is there and whole.
    expect(second.said).toMatch(/^qwen3 0:|^policy\.taken: There is a policy qwen3 already/m);
    const scored = await policy('score', 'qwen3', '0', '--ids', ids, '--state', state, '--json');
    expect(scored).toEqual(reference);
  }
}, 600_000);
