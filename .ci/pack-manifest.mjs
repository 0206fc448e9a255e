/**
 * The package.json of the package, which differs from that of a clone in what a machine that only uses it may leave out. `npm pack` and
 * `npm publish` call this before they read the file (`prepack`), and with `--restore` after it (`postpack`). A clone needs all of them, and npm
 * leaves optional packages out without a word where the Node that runs it is older than they ask for.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** The local mesh, deployments and the tools for agents need these, and a learner does without them. */
const OPTIONAL = [
  '@modelcontextprotocol/server',
  '@valibot/to-json-schema',
  'c12',
  'drizzle-orm',
  'hono',
  'miniflare',
  'wrangler',
];
/** Whoever wants a learner on a GPU installs this beside the package: it is large. */
const PEER = ['webgpu'];
/** The package brings the part of it that it uses, see `.ci/build`. */
const BUNDLED = ['cloudflare'];
/** The package depends on a workspace that has the build which is used, at the same version. */
const WHOLE = 'onnxruntime-web';
const PART = 'rollmesh-onnxruntime';

/** The start policies that the package does not bring, a workspace with a version of its own: who plays recipes in their toy worlds needs them, and no learner does. */
const STARTS = 'rollmesh-starts';

/** Nodes that compute with native code install this beside the package, at the version of the wasm build: no clone has it. */
const NATIVE = 'onnxruntime-node';

/** Whoever judges programs in Python installs the interpreter beside the package, at the version that a clone has for its tests. */
const INTERPRETER = 'pyodide';

const MANIFEST = 'package.json';
/** The clone's own file meanwhile. */
const KEPT = 'package.json.clone';

/** A clone has no `bin`: npx would install the clone into its cache for it, and runs the link that `cli/install/node.mjs` makes where there is none. */
const PROGRAM = { rollmesh: 'dist/cli/rollmesh.js' };

export function packedManifest(manifest) {
  const taken = (names) => Object.fromEntries(names.map((name) => [name, manifest.dependencies[name]]));
  const gone = new Set([...OPTIONAL, ...PEER, ...BUNDLED, WHOLE]);
  for (const name of gone)
    if (!manifest.dependencies[name]) throw new Error(`package.json has no dependency ${name}.`);
  const { workspaces: _, ...own } = manifest;
  const { version: starts } = JSON.parse(readFileSync('models/package.json', 'utf8'));
  return {
    ...own,
    bin: PROGRAM,
    // A clone resolves its own exports to the sources, which the package does not have.
    exports: Object.fromEntries(
      Object.entries(manifest.exports).map(([path, to]) => {
        if (typeof to === 'string') return [path, to];
        const { 'rollmesh-source': __, ...packed } = to;
        return [path, packed];
      }),
    ),
    dependencies: {
      ...Object.fromEntries(Object.entries(manifest.dependencies).filter(([name]) => !gone.has(name))),
      [PART]: manifest.dependencies[WHOLE],
    },
    optionalDependencies: { ...taken(OPTIONAL), [STARTS]: starts },
    peerDependencies: {
      ...taken(PEER),
      [NATIVE]: manifest.dependencies[WHOLE],
      [INTERPRETER]: manifest.devDependencies[INTERPRETER],
    },
    peerDependenciesMeta: Object.fromEntries(
      [...PEER, NATIVE, INTERPRETER].map((name) => [name, { optional: true }]),
    ),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  // A pack that was killed has left its manifest behind.
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
  if (process.argv[2] !== '--restore') {
    const own = readFileSync(MANIFEST, 'utf8');
    writeFileSync(KEPT, own);
    writeFileSync(MANIFEST, `${JSON.stringify(packedManifest(JSON.parse(own)), null, 2)}\n`);
  }
}
