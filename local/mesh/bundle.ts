/** Bundles the source of Workers with esbuild in the form that Miniflare takes. As in wrangler, .wasm files are compiled modules beside the bundle. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import type { BuildFailure, Message, Plugin } from 'esbuild';
import { wrongInput } from '../../core/errors.ts';
import type { MeshWorker } from '../../core/round/stages.ts';
import { build } from './esbuild.ts';
import { INSTALLATION, moduleFile, PUBLIC_MODULES } from './installation.ts';
import { kept, type Made } from './kept.ts';
import { dataOfWritten, importOfData } from './written-recipes.ts';

export interface BundledModule {
  readonly type: 'ESModule' | 'CompiledWasm';
  readonly path: string;
  readonly contents: string | Uint8Array<ArrayBuffer>;
  /** Of a wasm module: where it lies. It is read when its contents are. */
  readonly file?: string;
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

/** A Worker by its file, or one whose entry point is generated. */
type Main = string | GeneratedWorker;

/**
 * A recipe module that rollmesh wrote (cli/written-recipe.ts): its code, which all files of tasks have alike, and the module of its data, which lies beside
 * the bundle, so that one bundle serves runs on different files.
 */
interface WrittenRecipe {
  readonly code: string;
  readonly data: string;
}

const WRITTEN_RECIPE = 'rollmesh:recipe/';
const RECIPE_DATA = 'rollmesh:recipe-data/';

/** null where the module is another one, or imports more than its data from beside itself. */
function writtenRecipe(file: string, at: number): WrittenRecipe | null {
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  const line = importOfData(file);
  const data = dataOfWritten(file);
  if (!text.startsWith('/** Written by rollmesh ') || !text.includes(line) || !existsSync(data)) return null;
  const code = text.replace(line, `import text from '${RECIPE_DATA}${at}';`);
  return /from ["']\./.test(code) ? null : { code, data: readFileSync(data, 'utf8') };
}

/** The mains with names in place of recipes that rollmesh wrote, and those recipes by their numbers. */
function withoutData(mains: readonly Main[]) {
  const files = [...new Set(mains.flatMap((main) => (typeof main === 'string' ? [] : main.recipes)))];
  const written = files.map(writtenRecipe);
  const nameOf = (file: string) => {
    const at = files.indexOf(file);
    return written[at] ? `${WRITTEN_RECIPE}${at}` : file;
  };
  return {
    written,
    mains: mains.map((main) =>
      typeof main === 'string' ? main : { ...main, recipes: main.recipes.map(nameOf) },
    ),
  };
}

type Written = ReturnType<typeof withoutData>['written'];

const dataFile = (at: number | string): string => `recipe-data-${at}.js`;

/** Resolves the names of recipes that rollmesh wrote to their code, and keeps their data out of the bundle. */
const writtenRecipes = (written: Written): Plugin => ({
  name: 'written-recipes',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${WRITTEN_RECIPE}`) }, ({ path }) => ({
      path: path.slice(WRITTEN_RECIPE.length),
      namespace: 'written',
    }));
    builder.onLoad({ filter: /.*/, namespace: 'written' }, ({ path }) => ({
      contents: written[Number(path)]!.code,
      resolveDir: INSTALLATION,
    }));
    builder.onResolve({ filter: new RegExp(`^${RECIPE_DATA}`) }, ({ path }) => ({
      path: `./${dataFile(path.slice(RECIPE_DATA.length))}`,
      external: true,
    }));
  },
});

/** The module that wraps the N-th Worker, as an entry point: `rollmesh:around/N`. */
const AROUND = 'rollmesh:around';

/**
 * Resolves `rollmesh:worker/N` to the N-th Worker: its file, or the entry point that is generated for it; and `rollmesh:around/N` to a copy of the module
 * `around`, in which `rollmesh:worker` is the N-th Worker.
 */
const theWorkers = (mains: readonly Main[], around: string | undefined): Plugin => ({
  name: 'the-workers',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${WRAPPED}(?:/\\d+)?$`) }, ({ path, pluginData }) => {
      const at = path.slice(WRAPPED.length + 1) || String(pluginData);
      const main = mains[Number(at)]!;
      return typeof main === 'string' ? { path: resolve(main) } : { path: at, namespace: 'generated' };
    });
    builder.onLoad({ filter: /.*/, namespace: 'generated' }, ({ path }) => ({
      contents: entryCode(mains[Number(path)] as GeneratedWorker),
      resolveDir: INSTALLATION,
    }));
    if (around === undefined) return;
    builder.onResolve({ filter: new RegExp(`^${AROUND}/\\d+$`) }, ({ path }) => ({
      path: path.slice(AROUND.length + 1),
      namespace: 'around',
    }));
    builder.onLoad({ filter: /.*/, namespace: 'around' }, ({ path }) => ({
      contents: readFileSync(around),
      loader: extname(around) === '.ts' ? 'ts' : 'js',
      resolveDir: dirname(around),
      pluginData: path,
    }));
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

export interface BundledWorker {
  readonly root: string;
  readonly modules: BundledModule[];
}

const bundled = (root: string, { code, wasm }: Bundle, written: Written): BundledWorker => ({
  root,
  modules: [
    { type: 'ESModule', path: join(root, 'worker.js'), contents: code },
    ...written.flatMap((recipe, at) =>
      recipe && code.includes(dataFile(at))
        ? [
            {
              type: 'ESModule' as const,
              path: join(root, dataFile(at)),
              contents: recipe.data,
            },
          ]
        : [],
    ),
    ...wasm.map(([name, file]) => ({
      type: 'CompiledWasm' as const,
      path: join(root, name),
      file,
      get contents() {
        return new Uint8Array(readFileSync(file));
      },
    })),
  ],
});

/**
 * Returns the modules of a Worker. Their paths are only names; of the bundle, only a copy for the next start is written to disk. If
 * `around` is given, that module is the entry point and imports the Worker as `rollmesh:worker`. Throws `wrong-input` with the code
 * `worker.bundle` if a module cannot be bundled.
 */
export async function bundleWorker(main: Main, around?: string): Promise<BundledWorker> {
  const root = resolve(typeof main === 'string' ? dirname(main) : INSTALLATION);
  const [made] = await keptBundles(root, [main], around);
  return made!;
}

/** The same for several Workers. The sources that they share are read once for all of them. */
export async function bundleWorkers(mains: readonly Main[], around?: string): Promise<BundledWorker[]> {
  return keptBundles(INSTALLATION, mains, around);
}

async function keptBundles(root: string, given: readonly Main[], around?: string): Promise<BundledWorker[]> {
  const { mains, written } = withoutData(given);
  const codes = JSON.stringify(written.map((recipe) => recipe?.code));
  const made = await kept(['unmapped bundles', root, JSON.stringify(mains), codes, around], () =>
    bundle(root, mains, written, around),
  );
  return made.map((one) => bundled(root, one, written));
}

/** @returns a bundle of each Worker, in their order */
async function bundle(
  root: string,
  mains: readonly Main[],
  written: Written,
  around: string | undefined,
): Promise<Made<readonly Bundle[]>> {
  const wasm = new Map<string, string>();
  const { outputFiles, warnings, metafile } = await build({
    entryPoints: mains.map((_, at) => ({
      in: `${around === undefined ? WRAPPED : AROUND}/${at}`,
      out: String(at),
    })),
    // Whatever the working directory, the same files give the same bundle.
    absWorkingDir: INSTALLATION,
    outdir: root,
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    metafile: true,
    logLevel: 'silent',
    logOverride: { 'empty-import-meta': 'silent' },
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    plugins: [wasmModules(wasm), theWorkers(mains, around), writtenRecipes(written), ownModules],
  }).catch((cause: BuildFailure) => {
    throw wrongInput(
      'worker.bundle',
      `The Workers cannot be bundled: ${[...new Set(cause.errors.map(told))].join('; ')}.`,
      {
        next: 'Correct the module that is named.',
        cause,
      },
    );
  });
  for (const warning of new Set(warnings.map(told))) console.warn(`rollmesh: ${warning}`);
  const outputOf = (at: number) =>
    Object.entries(metafile.outputs).find(([path]) => basename(path) === `${at}.js`)![1];
  return {
    value: mains.map((_, at) => ({
      code: outputFiles.find(({ path }) => basename(path) === `${at}.js`)!.text,
      wasm: outputOf(at)
        .imports.map(({ path }) => basename(path))
        .filter((name) => wasm.has(name))
        .map((name) => [name, wasm.get(name)!] as const),
    })),
    // An entry point that was generated is no file; it is in the name under which the bundle is kept.
    inputs: [
      ...(around === undefined ? [] : [around]),
      ...Object.keys(metafile.inputs).filter((input) => !/^(?:generated|around|written):/.test(input)),
    ].map((input) => resolve(INSTALLATION, input)),
  };
}

const told = ({ text, location }: Message): string =>
  location ? `${text} (${relative('.', resolve(INSTALLATION, location.file))}:${location.line})` : text;
