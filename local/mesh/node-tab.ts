/**
 * Bundles the page /node: its two modules from local/node/, with the compiled kernels beside them, into the folder of the page's files. The package
 * brings them; from a checkout they are made when a mesh starts or is deployed, and made again when a source has changed.
 */
import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { BUILDS } from '../../infer/kernels/builds.ts';
import { buildFile } from '../../infer/kernels/node-builds.ts';
import { RUNTIME_FILES } from '../node/tab-files.ts';
import { BUILT, INSTALLATION, installed, moduleFile } from './installation.ts';

const FOLDER = installed('web/dashboard', 'node');
/** The list of the sources that were bundled; it is written last. */
const INPUTS = 'tab.inputs.json';

/** Writes to a name of its own first: several meshes may start at once. */
function place(file: string, write: (path: string) => void): void {
  const own = `${file}.${process.pid}`;
  write(own);
  renameSync(own, file);
}

function isCurrent(): boolean {
  const list = join(FOLDER, INPUTS);
  if (!existsSync(list)) return false;
  const made = statSync(list).mtimeMs;
  const inputs = JSON.parse(readFileSync(list, 'utf8')) as string[];
  return inputs.every(
    (file) => existsSync(join(INSTALLATION, file)) && statSync(join(INSTALLATION, file)).mtimeMs < made,
  );
}

export async function buildNodeTab(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const { outputFiles, metafile } = await build({
    entryPoints: ['local/node/tab', 'local/node/tab-thread'].map(moduleFile),
    absWorkingDir: INSTALLATION,
    outdir: FOLDER,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2024',
    platform: 'browser',
    metafile: true,
    logLevel: 'silent',
    external: ['onnxruntime-web'],
  });
  for (const { path, contents } of outputFiles)
    place(join(FOLDER, basename(path)), (own) => writeFileSync(own, contents));
  for (const kernels of BUILDS.map((one) => fileURLToPath(buildFile(one))))
    place(join(FOLDER, basename(kernels)), (own) => copyFileSync(kernels, own));
  place(join(FOLDER, INPUTS), (own) => writeFileSync(own, JSON.stringify(Object.keys(metafile.inputs))));
}

/** Where a file of ONNX Runtime lies: in its own package, or in rollmesh's, which brings the WebAssembly build alone. */
function runtimeFile(name: string): string {
  if (!BUILT) return join(dirname(createRequire(import.meta.url).resolve('onnxruntime-web/wasm')), name);
  const { code } = RUNTIME_FILES.wasm;
  return installed('dist', 'infer', 'onnxruntime', name === code ? 'wasm.mjs' : name);
}

/** Links, which takes no room, and copies where the file system cannot. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}

/**
 * Lays ONNX Runtime's files beside the page's own. Where one is not there, or in an installation that may not be written to, the page does
 * without and says so.
 */
function placeRuntimes(): void {
  for (const name of Object.values(RUNTIME_FILES).flatMap(({ code, wasm }) => [code, wasm])) {
    const [file, source] = [join(FOLDER, name), runtimeFile(name)];
    if (!existsSync(source)) continue;
    if (existsSync(file) && statSync(file).size === statSync(source).size) continue;
    try {
      place(file, (own) => linkOrCopy(source, own));
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/** Makes the files of the page /node where they are missing or older than their sources. */
export async function ensureNodeTab(): Promise<void> {
  if (!BUILT && !isCurrent()) await buildNodeTab();
  placeRuntimes();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildNodeTab();
