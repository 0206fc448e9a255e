/**
 * cli/install/node.mjs in a folder of its own, with a stand-in for npm, so that nothing is downloaded. The machine's Node is made too old by
 * asking for a later one than there is, which only the stand-in's answers to `--version`.
 */
import { spawnSync } from 'node:child_process';
import {
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isCurrent } from '../../cli/install/node-version.mjs';

/** What the stand-in for npm does with the folder that it is given. */
const GOOD = `
  const { optionalDependencies } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  const name = Object.keys(optionalDependencies).find((each) => each.endsWith(process.platform + '-' + process.arch));
  fs.mkdirSync('node_modules/' + name + '/bin', { recursive: true });
  fs.writeFileSync('node_modules/' + name + '/bin/node', '#!/bin/sh\\necho v999.1.0\\n', { mode: 0o755 });
`;
const CUT_OFF = `fs.mkdirSync('node_modules/half', { recursive: true }); process.kill(process.ppid, 'SIGKILL');`;
const REFUSED = 'process.exit(1);';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollmesh-'));
  cpSync('cli/install', join(folder, 'cli/install'), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (...path: string[]) => join(folder, 'node_modules', ...path);

/** Runs the script; `npm` is the body of the stand-in. `home`: where the package lies; `node`: by which Node. */
function install(oldest: string, npm: string, home = folder, node = process.execPath) {
  writeFileSync(join(home, 'package.json'), JSON.stringify({ engines: { node: `>=${oldest}` } }));
  const standIn = join(folder, 'npm-cli.js');
  const noted = join(folder, 'calls');
  writeFileSync(
    standIn,
    `const fs = require('node:fs'); fs.appendFileSync(${JSON.stringify(noted)}, process.argv.slice(2).join(' ') + '\\n'); ${npm}`,
  );
  const { status, signal, stderr } = spawnSync(node, [join(home, 'cli/install/node.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, npm_execpath: standIn },
  });
  return {
    status,
    signal,
    stderr,
    calls: existsSync(noted) ? readFileSync(noted, 'utf8').trim().split('\n') : [],
  };
}

/** What npm and npx find first. */
const linked = () => spawnSync(at('.bin/node'), { encoding: 'utf8' }).stdout?.trim();

test('a current Node is used as it is, and nothing is downloaded', () => {
  expect(install('22.19', GOOD)).toMatchObject({ status: 0, calls: [] });
  expect(existsSync(at('.node'))).toBe(false);
  expect(existsSync(at('.bin/node'))).toBe(false);
});

test('an old Node gets a current one beside it, whose packages run no scripts; a second time nothing is done', () => {
  const { status, calls } = install('999.0', GOOD);
  expect(status).toBe(0);
  expect(calls).toHaveLength(1);
  expect(calls[0]).toMatch(/^ci --prefix .*node_modules\/\.node .*--ignore-scripts/);
  expect(linked()).toBe('v999.1.0');
  expect(install('999.0', GOOD).calls).toHaveLength(1);
});

test('an install that is cut off leaves no link, and the next begins anew', () => {
  expect(install('999.0', CUT_OFF)).toMatchObject({ signal: 'SIGKILL' });
  expect(existsSync(at('.node/node_modules/half'))).toBe(true);
  expect(existsSync(at('.bin/node'))).toBe(false);
  expect(install('999.0', GOOD)).toMatchObject({ status: 0 });
  expect(existsSync(at('.node/node_modules/half'))).toBe(false);
  expect(linked()).toBe('v999.1.0');
});

test('a Node that was brought and does not run any more is brought again', () => {
  install('999.0', GOOD);
  const brought = readFileSync(at('.bin/node'), 'utf8');
  writeFileSync(at('.bin/node'), '');
  expect(linked()).not.toBe('v999.1.0');
  expect(install('999.0', GOOD).calls).toHaveLength(2);
  expect(readFileSync(at('.bin/node'), 'utf8')).toBe(brought);
});

test.each([
  ['the registry refuses', REFUSED],
  ['what was installed does not run', ''],
])('an error that says what to do where %s, and no link', (_, npm) => {
  const { status, stderr } = install('999.0', npm);
  expect(status).toBe(1);
  expect(stderr).toContain(`node.old: This is Node ${process.version}. Expected Node 999.0 or later`);
  expect(stderr).toContain('Install Node 999.0 or later, then run `npm ci` again.');
  expect(stderr).not.toContain('    at ');
  expect(existsSync(at('.bin/node'))).toBe(false);
});

test('once the machine has a current Node, what was brought goes', () => {
  install('999.0', GOOD);
  expect(install('22.19', GOOD)).toMatchObject({ status: 0 });
  expect(existsSync(at('.node'))).toBe(false);
  expect(spawnSync('ls', ['-l', at('.bin/node')]).status).not.toBe(0);
});

test('what was brought stays while it runs the script itself, also where node_modules is a link', () => {
  const elsewhere = join(folder, 'elsewhere');
  rmSync(at(), { recursive: true });
  mkdirSync(join(elsewhere, '.node'), { recursive: true });
  symlinkSync(elsewhere, at());
  copyFileSync(process.execPath, at('.node/node'), constants.COPYFILE_FICLONE);
  expect(install('22.19', GOOD, folder, at('.node/node'))).toMatchObject({ status: 0, calls: [] });
  expect(existsSync(at('.node/node'))).toBe(true);
});

test.each([
  ['v20.20.2', false],
  ['v22.18.0', false],
  ['v22.19.0', true],
  ['v23.0.0', true],
  ['v24.1.0', true],
])('%s is current: %s', (version, expected) => {
  expect(isCurrent(version)).toBe(expected);
});

test('what may be brought is current, exact, and named with its hash', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('cli/install/node/package.json', 'utf8'));
  const { packages } = JSON.parse(readFileSync('cli/install/node/package-lock.json', 'utf8'));
  expect(Object.keys(packages)).toEqual([
    '',
    ...Object.keys(optionalDependencies).map((each) => `node_modules/${each}`),
  ]);
  for (const [name, version] of Object.entries<string>(optionalDependencies)) {
    expect(isCurrent(`v${version}`)).toBe(true);
    expect(packages[`node_modules/${name}`]).toMatchObject({
      version,
      integrity: expect.stringMatching(/^sha512-/),
    });
  }
});

test('in a project that has the package, the Node is put where the project’s npm and npx look', () => {
  const home = at('rollmesh');
  cpSync('cli/install', join(home, 'cli/install'), { recursive: true });
  expect(install('999.0', GOOD, home)).toMatchObject({ status: 0 });
  expect(linked()).toBe('v999.1.0');
  expect(existsSync(join(home, 'node_modules'))).toBe(false);
});

test('every command of the program says so where its Node is too old', () => {
  // As Node 20 is: older, and without a cache for what it compiles.
  const old = `import m from 'node:module';
    delete m.enableCompileCache;
    Object.defineProperty(process, 'version', { value: 'v20.20.2' });`;
  const imports = ['./cli/install/typescript.mjs', `data:text/javascript,${encodeURIComponent(old)}`];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...imports.flatMap((url) => ['--import', url]), 'cli/rollmesh.ts', 'start'],
    { encoding: 'utf8' },
  );
  expect(stderr).toMatch(/^node\.old: This is Node v20\.20\.2 \(.*\)\. Expected Node \d+\.\d+ or later\./);
  expect(stderr).toContain('run `node cli/install/node.mjs` first.');
  expect(stderr).not.toContain('    at ');
  expect(stdout).toBe('');
  expect(status).toBe(1);
});
