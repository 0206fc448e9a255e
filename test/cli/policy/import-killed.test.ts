/**
 * An import that is killed at any moment leaves nothing that the next one cannot complete. The killed command runs a mesh of its own, which dies
 * with it; the next one finds a mesh that was started on the folder as it was left.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gatewayAt, startSharedMesh } from '../../../cli/shared/state-access.ts';
import { openStateFolder } from '../../../cli/shared/state-folder.ts';
import { NODE_FLAGS } from '../../../local/mesh/installation.ts';
import { type FileHashes, hashesOf } from '../../faults/reference-run.ts';
import { NIGHT } from '../../night.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-import-killed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LOOK_MS = 2;

interface Ended {
  readonly status: number | null;
  readonly said: string;
}

/** `policy import` of a reference checkpoint. It is killed once so many objects are on the disk. */
const importing = (state: string, killedAt?: number): Promise<Ended> =>
  policyUntil(killedAt === undefined ? () => false : () => objectsIn(state) >= killedAt, [
    'import',
    'test/oracle/models/qwen3',
    '--name',
    'qwen3',
    '--no-tokenizer',
    '--state',
    state,
  ]);

/** Does something while a mesh runs on the folder, and reads the version that is then there. */
async function withMesh(state: string, work: () => Promise<void> = async () => {}): Promise<FileHashes> {
  const stateDir = openStateFolder(state, false);
  const { mesh, stop } = await startSharedMesh({ stateDir, cronMs: 0, port: 0 });
  try {
    await work();
    return hashesOf(await gatewayAt(mesh.url).getVersion({ name: 'qwen3', version: 0 }));
  } finally {
    await stop();
  }
}

function objectsIn(state: string): number {
  const blobs = join(state, 'v3/r2/rollmesh/blobs');
  return existsSync(blobs) ? readdirSync(blobs).length : 0;
}

/** A command in a process group of its own, since it starts a mesh. */
function policyUntil(isTime: () => boolean, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [...NODE_FLAGS, 'cli/rollmesh.ts', 'policy', ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Uint8Array) => {
      said += new TextDecoder().decode(chunk);
    });
  const timer = setInterval(() => {
    if (child.exitCode === null && isTime()) process.kill(-child.pid!, 'SIGKILL');
  }, LOOK_MS);
  return new Promise((resolve) =>
    child.once('close', (status) => {
      clearInterval(timer);
      resolve({ status, said });
    }),
  );
}

// Before its first object and between two files; at night before its manifest and after it as well.
test('killed at any moment, the next import stores the version', async () => {
  const whole = await importing(join(folder, 'reference'));
  // The last three are its two files and its manifest.
  const all = objectsIn(join(folder, 'reference'));
  const reference = await withMesh(join(folder, 'reference'));
  expect(reference['model.safetensors']).toMatch(/^[0-9a-f]{64}$/);
  expect(whole.said).toContain('imported qwen3@0:');
  expect(whole.status).toBe(0);
  expect(all).toBeGreaterThanOrEqual(3);
  let completed = 0;
  for (const objects of NIGHT ? [0, all - 2, all - 1, all] : [0, all - 1]) {
    const state = join(folder, `killed-${objects}`);
    const first = await importing(state, objects);
    // On a busy machine it may be killed later than asked for, after its commit even, or have ended before.
    expect([null, 0]).toContain(first.status);
    const isWhole = objectsIn(state) >= all;
    const kept = await withMesh(state, async () => {
      const second = await importing(state);
      // Where the first was killed after its commit, its version is there and whole.
      const taken = isWhole ? '|^policy\\.taken: There is a policy qwen3 already' : '';
      expect(second.said).toMatch(new RegExp(`^imported qwen3@0:${taken}`, 'm'));
      if (second.said.includes('imported qwen3@0:')) completed++;
    });
    expect(kept).toEqual(reference);
  }
  expect(completed).toBeGreaterThan(0);
});
