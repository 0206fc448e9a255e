/**
 * What a first start in a clone would otherwise make: the bundles of the Workers, the pages of a tab, and what Node keeps of the modules that the commands
 * load. `npm ci` runs it (cli/install/node.mjs); where it fails, the first start makes them.
 */
import { bundleWorker } from './bundle.ts';
import { moduleFile } from './installation.ts';
import { readMeshConfig } from './mesh-config.ts';
import { ensureTabPages } from './tab-pages.ts';
import { workerOptions } from './workers.ts';

/** The Workers of the mesh's own, beside those of wrangler.toml. */
const BESIDE = ['pull-queue', 'access-check', 'control'];

const config = await readMeshConfig('.');
await ensureTabPages();
await Promise.all([
  workerOptions({
    config,
    recipes: [],
    secrets: { WEBHOOK_SECRET: '', LEARNER_TOKEN: '', MESH_KEY: '' },
    vars: {},
    rateLimit: undefined,
    fast: true,
    around: undefined,
  }),
  ...BESIDE.map((name) => bundleWorker(moduleFile(`local/mesh/${name}.worker`))),
]);
// Loaded, and not run.
await Promise.all(['cli/start/mesh-run', 'cli/learner/run'].map((path) => import(moduleFile(path))));
process.exit(0);
