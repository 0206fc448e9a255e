/**
 * What a first start in a clone would otherwise make: the bundles of the Workers, alone and with a recipe from files, the pages of a tab, and what Node keeps of the modules that the commands
 * load. `npm ci` runs it (cli/install/node.mjs); where it fails, the first start makes them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorker } from './bundle.ts';
import { moduleFile } from './installation.ts';
import { readMeshConfig } from './mesh-config.ts';
import { ensureTabPages } from './tab-pages.ts';
import { workerOptions } from './workers.ts';

/** The Workers of the mesh's own, beside those of wrangler.toml. */
const BESIDE = ['pull-queue', 'access-check', 'control'];

/** A recipe as a run on files writes it. Whatever the files, its code is the same. */
async function writtenRecipe(folder: string): Promise<string> {
  const { writeFromFiles } = (await import(moduleFile('cli/task-recipe'))) as {
    writeFromFiles: (folder: string, name: string, made: object) => Promise<string>;
  };
  return writeFromFiles(folder, 'ready', {});
}

const config = await readMeshConfig('.');
const folder = mkdtempSync(join(tmpdir(), 'rollmesh-ready-'));
const workers = (recipes: readonly string[]) =>
  workerOptions({
    config,
    recipes,
    secrets: { WEBHOOK_SECRET: '', LEARNER_TOKEN: '', MESH_KEY: '' },
    vars: {},
    rateLimit: undefined,
    fast: true,
    around: undefined,
  });
try {
  await ensureTabPages();
  await Promise.all([
    workers([]),
    workers([await writtenRecipe(folder)]),
    ...BESIDE.map((name) => bundleWorker(moduleFile(`local/mesh/${name}.worker`))),
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// Loaded, and not run.
await Promise.all(['cli/start/mesh-run', 'cli/learner/run'].map((path) => import(moduleFile(path))));
process.exit(0);
