/** One Worker's source as Miniflare takes it: bundled by esbuild, .wasm files beside it as compiled modules, as wrangler does it. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

export interface BundledModule {
  readonly type: 'ESModule' | 'CompiledWasm';
  readonly path: string;
  readonly contents: string | Uint8Array<ArrayBuffer>;
}

/** The name by which a module that is laid around a Worker imports it. */
const WRAPPED = 'rollmesh:worker';

const wrappedWorker = (main: string): Plugin => ({
  name: 'wrapped-worker',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${WRAPPED}$`) }, () => ({ path: main }));
  },
});

/** Keeps imports of .wasm files out of the bundle and notes where they are. */
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

/**
 * Modules of the Worker whose entry point is `main`; paths are only names, nothing is written. With `around`, that module is the
 * entry point, and imports the Worker as `rollmesh:worker`.
 */
export async function bundleWorker(
  main: string,
  around?: string,
): Promise<{ root: string; modules: BundledModule[] }> {
  const wasm = new Map<string, string>();
  const root = dirname(main);
  const { outputFiles } = await build({
    entryPoints: [around ?? main],
    outfile: join(root, 'worker.js'),
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'warning',
    logOverride: { 'empty-import-meta': 'silent' },
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    plugins: [wasmModules(wasm), wrappedWorker(main)],
  });
  return {
    root,
    modules: [
      { type: 'ESModule', path: join(root, 'worker.js'), contents: outputFiles[0]!.text },
      ...[...wasm].map(([name, file]) => ({
        type: 'CompiledWasm' as const,
        path: join(root, name),
        contents: new Uint8Array(readFileSync(file)),
      })),
    ],
  };
}
