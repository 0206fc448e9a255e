/**
 * Finds the files of this installation (policies, migrations, page, modules), whatever the working directory. The user's own files are
 * found from the working directory. The same code runs from its TypeScript sources and from the built package.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The folder of the package.json that this module belongs to. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

export const INSTALLATION = packageFolder();

/** Whether the running modules are the built ones, in JavaScript. */
export const BUILT = import.meta.url.endsWith('.js');

/** A file or folder of the installation that is not a module, such as `models` or `wrangler.toml`. */
export const installed = (...parts: readonly string[]): string => join(INSTALLATION, ...parts);

/** The release of this installation, such as `0.1.0`. */
export const release = (): string =>
  (JSON.parse(readFileSync(installed('package.json'), 'utf8')) as { version: string }).version;

/** The folder of caches: a package's is beside the package, as those of other tools are; a checkout's is in its own `node_modules`. */
export const CACHES = BUILT ? join(dirname(INSTALLATION), '.cache') : installed('node_modules', '.cache');

/** The file of a module by its path without an extension, such as `workers/gateway/index`. */
export const moduleFile = (path: string): string =>
  BUILT ? installed('dist', `${path}.js`) : installed(`${path}.ts`);

/** The flags of `node` with which it runs the installation's modules. */
export const NODE_FLAGS: readonly string[] = BUILT
  ? []
  : ['--import', pathToFileURL(installed('cli/install', 'typescript.mjs')).href];

/** The arguments of `node` that run a module of the installation, such as `cli/rollmesh`. */
export const nodeArguments = (path: string): string[] => [...NODE_FLAGS, moduleFile(path)];

/** The package's public modules, by the names under which package.json exports them. */
export const PUBLIC_MODULES: Readonly<Record<string, string>> = {
  rollmesh: 'sdk',
  'rollmesh/workers': 'workers/index',
  'rollmesh/recipes': 'recipes/index',
  'rollmesh/learner': 'learner/index',
  'rollmesh/local': 'local/run/index',
  'rollmesh/remote': 'infer/remote/policy',
  'rollmesh/testing': 'local/testing/index',
};
