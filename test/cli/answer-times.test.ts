/**
 * Commands that only say something say it at once. What a command loads is most of its time, and no other work on the machine changes it; all of
 * `npx rollmesh COMMAND --help` takes 0.06 to 0.2 seconds of a core with these bounds, of which an empty program of Node takes 0.03.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-loads-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a command writes to standard output, and the modules that it loads, as paths from the repository or names of packages. */
function run(...args: string[]) {
  const hook = pathToFileURL('test/cli/loaded-modules.mjs').href;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...NODE_FLAGS, '--import', hook, 'cli/rollmesh.ts', ...args],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  const here = `${pathToFileURL('.').href}/`;
  const urls = stderr.split('\n').filter((line) => line.startsWith(here));
  return { stdout, loaded: urls.map((url) => url.slice(here.length)) };
}

/** What takes long to load, and says nothing in a help text. */
const HEAVY = [
  ...['recipes/index.ts', 'learner/', 'infer/node-engines.ts', 'infer/ort.ts', 'workers/gateway/'],
  ...['undici', 'onnxruntime-web', 'esbuild', 'miniflare'].map((name) => `node_modules/${name}`),
];
/** Of the 29 commands `start` loads the most: 166. */
const MOST_MODULES = 200;

const commands = [...run('--help').stdout.matchAll(/^ {2}([a-z][a-z-]+) {2}/gm)].map(([, name]) => name!);

test('the program says which commands there are', () => {
  expect(commands).toEqual(expect.arrayContaining(['start', 'policy', 'mcp', 'deploy', 'check-answers']));
  expect(run('--help').loaded.length).toBeLessThan(30);
});

test.each(commands)('rollmesh %s --help loads little', (name) => {
  const { stdout, loaded } = run(name, '--help');
  expect(stdout).toMatch(/^Usage: /);
  expect(loaded.filter((path) => HEAVY.some((heavy) => path.startsWith(heavy)))).toEqual([]);
  expect(loaded.length).toBeLessThanOrEqual(MOST_MODULES);
});

test('policy list starts no mesh', () => {
  const { loaded } = run('policy', 'list', '--state', folder);
  expect(loaded.filter((path) => /^(recipes\/index|node_modules\/(miniflare|esbuild))/.test(path))).toEqual(
    [],
  );
});
