/**
 * `node learner-box.mjs DEPLOYER LEARNER`: a mesh of the package in the folder DEPLOYER, without a learner, and beside it the learner of the
 * package in the folder LEARNER, as on two machines. Ends with success when the learner has trained a round that was ordered.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [deployer, learner] = process.argv.slice(2);
const dist = join(deployer, 'node_modules/rollmesh/dist');
const load = (path) => import(pathToFileURL(join(dist, path)).href);
const [{ startMesh, SCORED_QUEUE }, { ensureShipped }, { GatewayClient }] = await Promise.all([
  load('local/mesh/start.js'),
  load('local/starts.js'),
  load('workers/api/gateway-client.js'),
]);

process.chdir(deployer);
const mesh = await startMesh();
const { LEARNER_TOKEN, MESH_KEY, WEBHOOK_SECRET } = mesh.secrets;
await ensureShipped(new GatewayClient({ url: mesh.url, token: LEARNER_TOKEN }));
const program = (folder) => join(folder, 'node_modules/rollmesh/dist/cli/rollmesh.js');
const training = spawn(process.execPath, [program(learner), 'learner', '--device', 'cpu'], {
  cwd: learner,
  stdio: 'inherit',
  env: {
    PATH: process.env.PATH,
    ROLLMESH_URL: mesh.url,
    LEARNER_TOKEN,
    MESH_KEY,
    QUEUE_API_URL: mesh.pullUrl,
    CLOUDFLARE_ACCOUNT_ID: 'local',
    SCORED_QUEUE_ID: SCORED_QUEUE,
    QUEUE_TOKEN: LEARNER_TOKEN,
  },
});
const ordering = spawn(
  process.execPath,
  [
    program(deployer),
    'trigger',
    mesh.url,
    '--recipe',
    'trio',
    '--tasks-per-round',
    '2',
    '--group-size',
    '2',
    '--wait',
  ],
  { stdio: 'inherit', env: { ...process.env, WEBHOOK_SECRET }, timeout: 120_000 },
);
const code = await new Promise((resolve) => ordering.once('close', resolve));
training.kill('SIGTERM');
await mesh.stop();
process.exit(code ?? 1);
