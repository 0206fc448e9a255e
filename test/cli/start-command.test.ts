/** `npx rollmesh start` as a person at a terminal sees it when something is wrong. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';
import { INTERNALS, runCommand } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const start = (...args: string[]) =>
  runCommand('cli/rollmesh.ts', ['start', '--state', join(folder, 'state'), ...args]);

test('a learner that cannot start ends the command with its message', async () => {
  const { code, stderr, stdout } = await start('--device', 'webgpu', '--rounds', '1', '--port', '0');
  expect(stderr).toMatch(/^learner\.no-gpu: .+/m);
  expect(stderr + stdout).not.toMatch(INTERNALS);
  expect(code).toBe(1);
});

// A line that replaces itself is only written to a terminal, which `script` makes.
test.skipIf(!existsSync('/usr/bin/script'))(
  'a terminal says while the start version is evaluated, and then what came of it',
  async () => {
    const options = [
      '--state',
      // Of its own, so that a second attempt evaluates again.
      join(mkdtempSync(join(folder, 'evaluated-')), 'state'),
      '--port',
      '0',
      '--rounds',
      '1',
      '--engine',
      'kernels',
    ];
    const command = [
      ...NODE_FLAGS,
      'cli/rollmesh.ts',
      'start',
      ...options,
      '--tasks-per-round',
      '4',
      '--group-size',
      '2',
    ];
    const terminal = spawn(
      '/usr/bin/script',
      // A pseudo terminal has no width of its own.
      ['-qec', `stty cols 100; exec ${[process.execPath, ...command].join(' ')}`, '/dev/null'],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
        // Somebody watches, also where a build server runs this.
        env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'CI')),
      },
    );
    let printed = '';
    terminal.stdout.on('data', (chunk: Uint8Array) => {
      printed += new TextDecoder().decode(chunk);
    });
    await once(terminal.stdout, 'close');
    const said = printed.indexOf('the start version is evaluated');
    const evaluated = printed.search(/version 0 on 192 held-out tasks/);
    expect(said).toBeGreaterThan(0);
    expect(evaluated).toBeGreaterThan(said);
    // The line is erased before the next one is written.
    expect(printed.slice(said, evaluated).endsWith('\u001b[1G\u001b[0K')).toBe(true);
  },
);

// A service manager, or `kill`, ends npm alone: the signal does not reach what npm has started. An interrupt npm leaves to the terminal's others.
// The command is one of the README's.
test('SIGTERM to npm alone ends the mesh and the learner of `npx rollmesh start --recipe tango`', async () => {
  const state = join(folder, 'npm');
  const options = ['--state', state, '--rounds', '2', '--port', '0', '--engine', 'kernels'];
  const npm = spawn('npm', ['start', '--', '--recipe', 'tango', ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  npm.stdout.on('data', (chunk: Uint8Array) => {
    const before = printed;
    printed += new TextDecoder().decode(chunk);
    if (!before.includes('watch it at') && printed.includes('watch it at')) npm.kill('SIGTERM');
  });
  // The pipe closes when the last process that npm started has ended.
  await once(npm.stdout, 'close');
  expect(printed).toMatch(/^tango trains /m);
  expect(printed).toMatch(/^Stopped before the first of 2 rounds was done\./m);
});

test('Ctrl-C while the mesh is brought up ends it in a line, and leaves nothing', async () => {
  const state = join(folder, 'early');
  let asked = false;
  const { stdout, stderr } = await runCommand(
    'cli/rollmesh.ts',
    ['start', '--state', state, '--port', '0', '--headless'],
    (text, kill) => {
      if (asked || !text.includes('compiling its Workers')) return;
      asked = true;
      kill('SIGINT');
    },
  );
  expect(stdout).toMatch(/^Stopped\. The same command goes on from here\.$/m);
  expect(stdout + stderr).not.toMatch(INTERNALS);
});

describe.concurrent('refused before the mesh is brought up', () => {
  test('a port that is taken', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
    const { code, stderr } = await start('--port', String(port));
    expect(stderr).toContain(`start.port: Port ${port} is in use. Expected a port that is free.`);
    expect(stderr).not.toMatch(INTERNALS);
    expect(code).toBe(1);
    server.close();
  });

  test('a port that is none', async () => {
    const { code, stderr } = await start('--port', '99999');
    expect(stderr).toContain('Expected a port from 0 to 65535');
    expect(stderr).not.toMatch(INTERNALS);
    expect(code).toBe(1);
  });

  test('a state folder that is a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await runCommand('cli/rollmesh.ts', ['start', '--state', file]);
    expect(stderr).toContain(`state.folder: ${file} is not a folder.`);
    expect(stderr).not.toMatch(INTERNALS);
    expect(code).toBe(1);
  });
});
