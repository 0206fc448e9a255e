/**
 * `node image.mjs FOLDER`: starts a node by the entry point of the Dockerfile, without a container runtime. FOLDER is a project in which the packages are installed as
 * the image installs them. Ends with success when the node has asked for work with the token of its environment, as a user without rights.
 */
import { spawn } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.argv[2]);
const [, entry] = /^ENTRYPOINT (.+)$/m.exec(readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8'));
const [program, ...args] = JSON.parse(entry);
const seal = join(folder, 'node_modules/rollmesh/dist/core/audit/work-seal.js');
const { makeNodeKeys } = await import(pathToFileURL(seal).href);
const { token } = await makeNodeKeys('0'.repeat(32));
/** Anybody's number but root's: what `USER node` is in the image. */
const rights = process.getuid() === 0 ? { uid: 1000, gid: 1000 } : {};
chmodSync(dirname(folder), 0o755);

const asked = Promise.withResolvers();
const gateway = createServer(({ url, headers }) => asked.resolve(`${url} ${headers.authorization}`));
await new Promise((listening) => gateway.listen(0, '127.0.0.1', listening));
const child = spawn(
  program === 'node' ? process.execPath : program,
  [...args, '--mesh', `http://127.0.0.1:${gateway.address().port}`, '--threads', '1'],
  {
    cwd: folder,
    env: { PATH: dirname(process.execPath), HOME: folder, ROLLMESH_NODE_TOKEN: token },
    stdio: ['ignore', 'ignore', 'inherit'],
    ...rights,
  },
);
child.once('exit', (code) => asked.resolve(`it ended with ${code}`));
const said = await asked.promise;
child.kill('SIGKILL');
gateway.closeAllConnections();
gateway.close();
if (said !== `/api/work/lease Bearer ${token}`) {
  console.error(said);
  process.exitCode = 1;
}
