/**
 * Brings a current Node where the machine's own is too old: `npm ci` runs this (as `prepare`), on a machine with a current
 * Node it does nothing. The package of this platform, named with its hash in cli/install/node/package-lock.json, is installed by
 * npm into node_modules/.node, and node_modules/.bin/node leads to it: npm and npx look there before they look anywhere else.
 * That link is made last, so an install that was interrupted is taken up again from the start. In a clone it also puts the program into
 * node_modules/.bin, so that `npx rollmesh` runs it there as in a project that has the package.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isCurrent, OLDEST_NODE } from './node-version.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const installation = join(here, '../..');
/** Of a clone its own folder; of an installed package the folder that it lies in, where the project's npm and npx look. */
const modules =
  basename(dirname(installation)) === 'node_modules'
    ? dirname(installation)
    : join(installation, 'node_modules');
const folder = join(modules, '.node');
const link = join(modules, '.bin/node');

/** @param {string} binary What it answers to `--version`; empty where it does not run. */
const versionOf = (binary) => spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';

/** @param {string} reason */
function fail(reason) {
  console.error(
    `node.old: This is Node ${process.version}. Expected Node ${OLDEST_NODE} or later, and ${reason} ` +
      `Install Node ${OLDEST_NODE} or later, then run \`npm ci\` again.`,
  );
  process.exit(1);
}

/** Installs the platform's package by the npm that runs this script, and gives the path of its program. */
function bring() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(here, 'node/package.json'), 'utf8'));
  const name = Object.keys(optionalDependencies).find((each) =>
    each.endsWith(`${process.platform}-${process.arch}`),
  );
  if (!name) fail(`none can be brought for ${process.platform} on ${process.arch}.`);
  console.log(
    `Node ${process.version} is older than ${OLDEST_NODE}: Node ${optionalDependencies[name]} is installed beside it, ` +
      'into node_modules, for this project alone.',
  );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(here, 'node'), folder, { recursive: true });
  const npm = process.env.npm_execpath?.endsWith('npm-cli.js')
    ? [process.execPath, process.env.npm_execpath]
    : ['npm'];
  const flags = [
    '--global=false',
    '--include=optional',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
  ];
  const [command, ...first] = npm;
  const { status } = spawnSync(command, [...first, 'ci', '--prefix', folder, ...flags, '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const binary = join(folder, 'node_modules', name, 'bin/node');
  if (status !== 0 || !isCurrent(versionOf(binary)))
    fail(`${name} ${optionalDependencies[name]} could not be installed from the npm registry.`);
  return binary;
}

/**
 * Put in place at once, so that it is there wholly or not at all.
 * @param {string} target @param {string} at
 */
function linkTo(target, at) {
  mkdirSync(dirname(at), { recursive: true });
  const draft = `${at}.${process.pid}`;
  symlinkSync(relative(dirname(at), target), draft);
  renameSync(draft, at);
}

const program = join(modules, '.bin/rollmesh');
const isClone = existsSync(join(here, '../rollmesh.ts'));
if (isClone && process.platform === 'win32') {
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(`${program}.cmd`, '@node "%~dp0\\..\\..\\cli\\install\\rollmesh.mjs" %*\r\n');
} else if (isClone) linkTo(join(here, 'rollmesh.mjs'), program);

// `execPath` has no links in it; `node_modules` may be one.
const isOurs = existsSync(folder) && process.execPath.startsWith(realpathSync(folder));
if (isCurrent(process.version) && !isOurs) {
  // What an older Node once brought: the machine has its own now.
  rmSync(folder, { recursive: true, force: true });
  if (!versionOf(link)) rmSync(link, { force: true });
} else if (!isOurs && !isCurrent(versionOf(link))) linkTo(bring(), link);

// So that the first start of a clone takes no longer than the others.
const ready = join(installation, 'local/mesh/make-ready.ts');
if (isClone && existsSync(ready)) {
  const node = isCurrent(process.version) ? process.execPath : link;
  const typescript = pathToFileURL(join(here, 'typescript.mjs')).href;
  spawnSync(node, ['--import', typescript, ready], { cwd: installation, stdio: 'ignore', timeout: 60_000 });
}
