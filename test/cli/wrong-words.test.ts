/** Commands that are given the wrong words, as a person at a terminal sees them. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { INTERNALS, runCommand } from './terminal.ts';

describe.concurrent('refused without a stack', () => {
  test.each([
    [
      'cli/rollmesh.ts',
      ['trigger', 'notaurl', '--recipe', 'trio'],
      'url.invalid: "notaurl" is not the address of a mesh.',
    ],
    ['test/bench/index.ts', ['nothing'], 'bench.name: There is no bench "nothing".'],
    ['test/bench/index.ts', ['chance', '--nodes', 'x'], 'bench.options: --nodes is "x".'],
    ['test/bench/index.ts', ['nodes', '--turns=0'], 'bench.options: --turns is "0".'],
    ['test/bench/index.ts', ['scaling', '--turn', '3'], "bench.options: Unknown option '--turn'"],
    ['cli/rollmesh.ts', ['stop'], "missing required argument 'run'"],
  ])('%s %j', async (script, args, description) => {
    const { code, stderr } = await runCommand(script, args);
    expect(stderr).toContain(description);
    expect(stderr).not.toMatch(INTERNALS);
    expect(code).toBe(1);
  });
});

test.each([[['--help']], [['scaling', '--help']]])('bench %j says what there is', async (args) => {
  const { code, stdout, stderr } = await runCommand('test/bench/index.ts', args);
  expect(stdout).toContain('npm run bench -- scaling [--turns N] [--json]');
  expect(stderr).toBe('');
  expect(code).toBe(0);
});

test('a command that only reads makes no state folder', async () => {
  const missing = join(tmpdir(), `rollmesh-typo-${process.pid}`);
  const { code, stderr } = await runCommand('cli/rollmesh.ts', ['policy', 'list', '--state', missing]);
  expect(stderr).toContain(`state.missing: There is no state folder ${missing}.`);
  expect(code).toBe(1);
  expect(existsSync(missing)).toBe(false);
});
