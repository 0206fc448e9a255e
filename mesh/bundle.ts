/** Bundles one Worker's source with esbuild in the form that Miniflare takes. As in wrangler, .wasm files are compiled modules beside the bundle. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type BuildFailure, build, type Message, type Plugin } from 'esbuild';
import { wrongInput } from '../core/errors.ts';
import type { MeshWorker } from '../core/stages.ts';
import { INSTALLATION, moduleFile, PUBLIC_MODULES } from './installation.ts';
import { kept, type Made } from './kept.ts';

export interface BundledModule {
  readonly type: 'ESModule' | 'CompiledWasm';
  readonly path: string;
  readonly contents: string | Uint8Array<ArrayBuffer>;
}

/** A Worker that also plays recipes which are not shipped. Its entry point is generated here. */
export interface GeneratedWorker {
  readonly worker: MeshWorker;
  /** Files of modules whose default export is a recipe. */
  readonly recipes: readonly string[];
}

/** The name by which a module that wraps a Worker imports the Worker. */
const WRAPPED = 'rollmesh:worker';

/** The public modules that may be part of a Worker. The others depend on tfjs or Node. */
const FOR_WORKERS = new Set(['rollmesh', 'rollmesh/workers', 'rollmesh/recipes']);

/** The entry point of a Worker with these recipes beside the shipped ones. `from` says where each public module is imported from. */
export const entryCode = (
  { worker, recipes }: GeneratedWorker,
  from: (module: 'rollmesh/workers' | 'rollmesh/recipes') => string = (module) => module,
): string =>
  [
    `import { ${worker}Worker } from ${JSON.stringify(from('rollmesh/workers'))};`,
    `import { recipes } from ${JSON.stringify(from('rollmesh/recipes'))};`,
    ...recipes.map((file, i) => `import recipe${i} from ${JSON.stringify(file)};`),
    `export default ${worker}Worker({ recipes: [...recipes, ${recipes.map((_, i) => `recipe${i}`).join(', ')}] });`,
  ].join('\n');

/** Resolves `rollmesh:worker` to the Worker: its file, or the entry point that is generated for it. */
const theWorker = (main: string | GeneratedWorker): Plugin => ({
  name: 'the-worker',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${WRAPPED}$`) }, () =>
      typeof main === 'string' ? { path: main } : { path: main.worker, namespace: 'generated' },
    );
    builder.onLoad({ filter: /.*/, namespace: 'generated' }, () =>
      typeof main === 'string' ? undefined : { contents: entryCode(main), resolveDir: INSTALLATION },
    );
  },
});

/** Resolves imports of `rollmesh` to this installation's own modules, so that there is one copy of them, and refuses the learner's modules. */
const ownModules: Plugin = {
  name: 'own-modules',
  setup(builder) {
    builder.onResolve({ filter: /^(?:rollmesh(?:\/.*)?|@tensorflow\/.*)$/ }, ({ path }) => {
      const module = PUBLIC_MODULES[path];
      if (module !== undefined && FOR_WORKERS.has(path)) return { path: moduleFile(module) };
      return {
        errors: [
          {
            text: `${path} cannot be part of a Worker. A recipe imports from ${[...FOR_WORKERS].join(', ')}; what needs tensors is a module of its own that the recipe names by its path`,
          },
        ],
      };
    });
  },
};

/** Keeps imported .wasm files out of the bundle and records their paths in `found`. */
function wasmModules(found: Map<string, string>): Plugin {
  const alreadyResolving = Symbol();
  return {
    name: 'wasm-modules',
    setup(builder) {
      builder.onResolve({ filter: /\.wasm$/ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
        if (pluginData === alreadyResolving) return undefined;
        const file = await builder.resolve(path, {
          kind,
          resolveDir,
          importer,
          pluginData: alreadyResolving,
        });
        found.set(basename(file.path), file.path);
        return { path: `./${basename(file.path)}`, external: true };
      });
    },
  };
}

/** A bundle as it is kept: the .wasm files by their paths. */
interface Bundle {
  readonly code: string;
  /** Names that the code imports, with their files. */
  readonly wasm: readonly (readonly [string, string])[];
}

/**
 * Returns the modules of a Worker. Their paths are only names; of the bundle, only a copy for the next start is written to disk. If
 * `around` is given, that module is the entry point and imports the Worker as `rollmesh:worker`. Throws `wrong-input` with the code
 * `worker.bundle` if a module cannot be bundled.
 */
export async function bundleWorker(
  main: string | GeneratedWorker,
  around?: string,
): Promise<{ root: string; modules: BundledModule[] }> {
  const root = resolve(typeof main === 'string' ? dirname(main) : INSTALLATION);
  const { code, wasm } = await kept(['bundle', process.cwd(), JSON.stringify(main), around], () =>
    bundle(root, main, around),
  );
  return {
    root,
    modules: [
      { type: 'ESModule', path: join(root, 'worker.js'), contents: code },
      ...wasm.map(([name, file]) => ({
        type: 'CompiledWasm' as const,
        path: join(root, name),
        contents: new Uint8Array(readFileSync(file)),
      })),
    ],
  };
}

async function bundle(
  root: string,
  main: string | GeneratedWorker,
  around: string | undefined,
): Promise<Made<Bundle>> {
  const wasm = new Map<string, string>();
  const { outputFiles, warnings, metafile } = await build({
    entryPoints: [around ?? (typeof main === 'string' ? main : WRAPPED)],
    outfile: join(root, 'worker.js'),
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    sourcemap: 'inline',
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
    logOverride: { 'empty-import-meta': 'silent' },
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    plugins: [wasmModules(wasm), theWorker(main), ownModules],
  }).catch((cause: BuildFailure) => {
    throw wrongInput(
      'worker.bundle',
      `The Workers cannot be bundled: ${cause.errors.map(told).join('; ')}.`,
      {
        next: 'Correct the module that is named.',
        cause,
      },
    );
  });
  for (const warning of warnings) console.warn(`rollmesh: ${told(warning)}`);
  return {
    value: { code: outputFiles[0]!.text, wasm: [...wasm] },
    // An entry point that was generated is no file; it is in the name under which the bundle is kept.
    inputs: Object.keys(metafile.inputs)
      .filter((input) => !input.startsWith('generated:'))
      .map((input) => resolve(input)),
  };
}

const told = ({ text, location }: Message): string =>
  location ? `${text} (${location.file}:${location.line})` : text;
