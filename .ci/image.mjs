/**
 * `node image.mjs node|server FOLDER`: starts what an entry point of the Dockerfile starts, without a container runtime, as a user without rights. FOLDER is a project in
 * which the packages are installed as the image installs them. Ends with success when a node has asked for work with the token of its environment, or a service is found
 * healthy by the image's own check.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stagesOf } from './stages.mjs';

const [stage, given] = process.argv.slice(2);
const folder = resolve(given);
const steps = stagesOf(readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8'))[stage];
const listOf = (instruction) => JSON.parse(/\[.*\]/.exec(steps.find(([name]) => name === instruction)[1])[0]);
const [program, ...args] = listOf('ENTRYPOINT');
/** Anybody's number but root's: what `USER node` is in the image. */
const rights = process.getuid() === 0 ? { uid: 1000, gid: 1000 } : {};
chmodSync(dirname(folder), 0o755);

const begin = (cwd, more, variables = {}) =>
  spawn(program === 'node' ? process.execPath : program, [...args, ...more], {
    cwd,
    env: {
      PATH: [join(folder, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: cwd,
      ...variables,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    ...rights,
  });

/** @returns what went wrong; undefined where it asked for work */
async function nodeAsks() {
  const seal = join(folder, 'node_modules/rollmesh/dist/core/audit/work-seal.js');
  const { makeNodeKeys } = await import(pathToFileURL(seal).href);
  const { token } = await makeNodeKeys('0'.repeat(32));
  const asked = Promise.withResolvers();
  const gateway = createServer(({ url, headers }) => asked.resolve(`${url} ${headers.authorization}`));
  await new Promise((listening) => gateway.listen(0, '127.0.0.1', listening));
  const mesh = `http://127.0.0.1:${gateway.address().port}`;
  const child = begin(folder, ['--mesh', mesh, '--threads', '1'], { ROLLMESH_NODE_TOKEN: token });
  child.once('exit', (code) => asked.resolve(`it ended with ${code}`));
  const said = await asked.promise;
  child.kill('SIGKILL');
  gateway.closeAllConnections();
  gateway.close();
  return said === `/api/work/lease Bearer ${token}` ? undefined : said;
}

/** How long a service may take to be healthy, and to end, s. */
const PATIENCE = 120;

/** @returns what went wrong; undefined where it was healthy, and ended when it was told to */
async function serverServes() {
  const data = mkdtempSync(join(tmpdir(), 'rollmesh-data-'));
  if (rights.uid) chownSync(data, rights.uid, rights.gid);
  const child = begin(data, []);
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  try {
    const [check, ...words] = listOf('HEALTHCHECK');
    for (let tried = 0; spawnSync(check, words).status !== 0; tried++) {
      if (child.exitCode !== null) return `it ended with ${child.exitCode}`;
      if (tried === PATIENCE) return 'it did not become healthy';
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    child.kill();
    const late = new Promise((resolve) => setTimeout(resolve, 1000 * PATIENCE).unref());
    const code = await Promise.race([ended, late]);
    return code === 0 ? undefined : `told to end, it ended with ${code}`;
  } finally {
    child.kill('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  }
}

const wrong = await { node: nodeAsks, server: serverServes }[stage]();
if (wrong) {
  console.error(wrong);
  process.exitCode = 1;
}
