/** A disk that is full: a file system of one megabyte, in a mount namespace of its own, where this user may make one. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../mesh/installation.ts';
import { INTERNALS } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-full-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const mount = `mount -t tmpfs -o size=1m tmpfs ${folder}`;
/** As root, or as the root of a user namespace where the machine allows one. */
const unshared = ['-m', '-rm'].find((flags) => spawnSync('unshare', [flags, 'sh', '-c', mount]).status === 0);

test.runIf(unshared)(
  'a start on a full disk ends with what to do, and without a stack',
  async () => {
    const start = `exec "${process.execPath}" ${NODE_FLAGS.join(' ')} cli/rollmesh.ts start --serve --port 0 --state ${folder}/state`;
    const { code, said } = await new Promise<{ code: unknown; said: string }>((resolve) => {
      const args = [unshared!, 'sh', '-c', `${mount} && ${start}`];
      const env = { ...process.env, NO_COLOR: '1' };
      execFile('unshare', args, { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code, said: stdout + stderr }),
      );
    });
    expect(said).toMatch(/^disk\.full: The disk is full\b.* Expected room for .* Make room, or choose/m);
    expect(said).not.toMatch(INTERNALS);
    expect(code).toBe(1);
  },
  180_000,
);
