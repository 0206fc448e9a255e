/** Two commands that start in the same moment and want the same thing: one gets it, the other is told who has it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { INTERNALS } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-two-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly said: string;
  readonly wasUp: boolean;
}

/** Starts all of them at once. Those that come up are ended once another has ended by itself, or if all are up. */
async function startAll(...all: readonly (readonly string[])[]): Promise<Ended[]> {
  const up = new Set<ReturnType<typeof spawn>>();
  let ended = 0;
  const settle = () => {
    if (ended > 0 || up.size === all.length) for (const child of up) child.kill('SIGTERM');
  };
  return Promise.all(
    all.map((args) => {
      const child = spawn(process.execPath, [...NODE_FLAGS, 'cli/rollmesh.ts', 'start', '--serve', ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, NO_COLOR: '1' },
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Uint8Array) => {
          said += new TextDecoder().decode(chunk);
          if (up.has(child) || !said.includes('The mesh is up')) return;
          up.add(child);
          settle();
        });
      return new Promise<Ended>((resolve) => {
        child.once('close', (code) => {
          ended++;
          settle();
          resolve({ code, said, wasUp: up.has(child) });
        });
      });
    }),
  );
}

/** A port that nothing has now. Another process may take it before it is used: then neither start gets it, and another one is tried. */
const anyPort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

test('one state folder: the second is told which process has it', async () => {
  const state = join(folder, 'one');
  const both = await startAll(['--port', '0', '--state', state], ['--port', '0', '--state', state]);
  expect(both.map(({ wasUp }) => wasUp).sort()).toEqual([false, true]);
  const refused = both.find(({ wasUp }) => !wasUp)!;
  expect(refused.said).toMatch(
    /^state\.busy: Process \d+ runs a mesh on .* Expected only one mesh on a state folder at a time\./m,
  );
  expect(refused.said).not.toMatch(INTERNALS);
  expect(refused.code).toBe(1);
});

test('one port: the second is told that it is taken', async () => {
  for (let attempt = 0; ; attempt++) {
    const port = String(await anyPort());
    const both = await startAll(
      ...['a', 'b'].map((name) => ['--port', port, '--state', join(folder, `${name}${attempt}`)]),
    );
    const refused = both.filter(({ wasUp }) => !wasUp);
    for (const { said, code } of refused) {
      expect(said).toMatch(
        /^start\.port: (Port \d+ is in use|The port of the mesh was taken while it started)\./m,
      );
      expect(said).not.toMatch(INTERNALS);
      expect(code).toBe(1);
    }
    // A stranger had the port.
    if (refused.length === 2 && attempt < 5) continue;
    expect(refused).toHaveLength(1);
    return;
  }
});
