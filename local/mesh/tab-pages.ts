/**
 * Bundles the pages /node and /try: their modules from local/node/ and local/try/, with the compiled kernels beside them, into the folders of the pages'
 * files. They are made when a mesh first starts or is deployed, and made again when a source has changed.
 */
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile, Plugin } from 'esbuild';
import { fileEntries } from '../../core/schema/policy.ts';
import { BUILDS } from '../../infer/kernels/builds.ts';
import { buildFile } from '../../infer/kernels/node-builds.ts';
import { FLAGSHIP } from '../../recipes/flagship.ts';
import { shipped } from '../../recipes/index.ts';
import { readStart } from '../find-start.ts';
import { RUNTIME_FILES } from '../node/tab-files.ts';
import { DEFAULT_START_POLICY } from '../starts.ts';
import { CODE_FILE } from '../try/told.ts';
import { codeOfRelease, codeOfSources } from './code-hashes.ts';
import { build } from './esbuild.ts';
import { BUILT, CACHES, INSTALLATION, installed, moduleFile } from './installation.ts';

/** The list of the sources that were bundled; it is written last. */
const INPUTS = 'tab.inputs.json';
/** What the names of parts begin with that several modules share, or that are loaded when they are needed. */
const CHUNK = 'part-';
const NODE_FOLDER = installed('web/dashboard', 'node');
const TRY_FOLDER = installed('web/dashboard', 'try');
const INFER_KERNELS = BUILDS.map((one) => fileURLToPath(buildFile(one)));

const LEARNER_KERNELS = ['learner', 'learner-fma'].map((name) =>
  fileURLToPath(new URL(`../../kernels/${name}.wasm`, import.meta.url)),
);

/** A page whose code is bundled: its modules and styles, and the files that lie beside them. */
interface TabPage {
  readonly entries: Readonly<Record<string, string>>;
  readonly beside: readonly string[];
}

const NODE_PAGE: TabPage = {
  entries: { tab: moduleFile('local/node/tab'), 'tab-thread': moduleFile('local/node/tab-thread') },
  beside: INFER_KERNELS,
};
const TRY_PAGE: TabPage = {
  entries: {
    page: moduleFile('local/try/page'),
    thread: moduleFile('local/try/thread'),
    style: join(TRY_FOLDER, 'try.css'),
  },
  beside: [...INFER_KERNELS, ...LEARNER_KERNELS],
};

/**
 * Writes a file apart first, and moves it to its place: several meshes may start at once, and each lists the folder of its pages, so that a name that is there
 * for a moment would end one of them.
 */
export function place(file: string, write: (path: string) => void): void {
  const apart = join(CACHES, 'placing', `${process.pid}.${basename(file)}`);
  mkdirSync(dirname(apart), { recursive: true });
  write(apart);
  try {
    renameSync(apart, file);
  } catch (error) {
    // A site may be built on another file system.
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyFileSync(apart, file);
    rmSync(apart);
  }
}

const holds = (file: string, bytes: Uint8Array): boolean =>
  existsSync(file) && statSync(file).size === bytes.length && readFileSync(file).equals(bytes);

/** Places a file that is not there, or holds something else. */
function placeBytes(file: string, bytes: Uint8Array): void {
  if (!holds(file, bytes)) place(file, (apart) => writeFileSync(apart, bytes));
}

/** How pages are made is in this module, and with which tools in package.json. */
const MADE_BY = [fileURLToPath(import.meta.url), installed('package.json')];

export function isCurrent(folder: string): boolean {
  const list = join(folder, INPUTS);
  if (!existsSync(list)) return false;
  const made = statSync(list).mtimeMs;
  const inputs = JSON.parse(readFileSync(list, 'utf8')) as string[];
  return [...MADE_BY, ...inputs.map((input) => join(INSTALLATION, input))].every(
    (file) => existsSync(file) && statSync(file).mtimeMs < made,
  );
}

/** Leaves out the decoder of Brotli: with its dictionary it is a tenth of the page, and Parquet files are hardly ever compressed by it. */
export const withoutBrotli: Plugin = {
  name: 'without-brotli',
  setup(builder) {
    const why = 'it is compressed by Brotli, which a tab does not read: write it with snappy, gzip or zstd';
    builder.onLoad({ filter: /hyparquet-compressors.src.brotli\.js$/ }, () => ({
      contents: `export const decompressBrotli = () => { throw new Error(${JSON.stringify(why)}); };`,
    }));
  },
};

/** @returns the sources, with what each imports */
async function bundle({ entries, beside }: TabPage, folder: string): Promise<Metafile['inputs']> {
  mkdirSync(folder, { recursive: true });
  const { outputFiles, metafile } = await build({
    entryPoints: { ...entries },
    absWorkingDir: INSTALLATION,
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    chunkNames: `${CHUNK}[hash]`,
    minify: true,
    format: 'esm',
    target: 'es2024',
    platform: 'browser',
    metafile: true,
    logLevel: 'silent',
    external: ['onnxruntime-web'],
    plugins: [withoutBrotli],
    // The package's other build wants Node's Buffer.
    alias: { 'csv-parse/sync': 'csv-parse/browser/esm/sync' },
  });
  for (const { path, contents } of outputFiles)
    place(join(folder, basename(path)), (own) => writeFileSync(own, contents));
  const made = outputFiles.map(({ path }) => basename(path));
  // A mesh that starts at the same moment may have removed it.
  for (const old of readdirSync(folder))
    if (old.startsWith(CHUNK) && !made.includes(old)) rmSync(join(folder, old), { force: true });
  for (const file of beside) place(join(folder, basename(file)), (own) => copyFileSync(file, own));
  return metafile.inputs;
}

/** Bundles the page /try, with the hashes of its code beside it. @returns the sources, with what each imports */
async function bundleTry(folder: string): Promise<Metafile['inputs']> {
  const inputs = await bundle(TRY_PAGE, folder);
  const code = BUILT ? await codeOfRelease() : codeOfSources(inputs);
  placeBytes(join(folder, CODE_FILE), new TextEncoder().encode(JSON.stringify(code)));
  return inputs;
}

/** Where a file of ONNX Runtime lies: in its own package, or in the one that an installation has, which is the WebAssembly build alone. */
const runtimeFile = (name: string): string =>
  join(
    dirname(
      createRequire(import.meta.url).resolve(`${BUILT ? 'rollmesh-onnxruntime' : 'onnxruntime-web'}/wasm`),
    ),
    name,
  );

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
    const [file, source] = [join(NODE_FOLDER, name), runtimeFile(name)];
    if (!existsSync(source)) continue;
    if (existsSync(file) && statSync(file).size === statSync(source).size) continue;
    place(file, (own) => linkOrCopy(source, own));
  }
}

/** Does what writes into the installation. Returns whether it may be written to. */
async function whereWritable(write: () => void | Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return false;
  }
}

/** The start policies that the page /try of a mesh offers: that of the flagship, and the one of most recipes. A reader fetches the one that is played. */
const TRIED = [shipped.find(FLAGSHIP).startPolicy, DEFAULT_START_POLICY];

/** Lays start policies beside the page /try, and the list of them. */
async function placeStarts(folder: string, names: readonly string[] = TRIED): Promise<void> {
  const starts: Record<string, readonly string[]> = {};
  for (const name of names) {
    const files = fileEntries(await readStart(name));
    starts[name] = files.map(([file]) => file);
    mkdirSync(join(folder, 'starts', name), { recursive: true });
    for (const [file, bytes] of files) placeBytes(join(folder, 'starts', name, file), bytes);
  }
  placeBytes(join(folder, 'starts.json'), new TextEncoder().encode(JSON.stringify(starts)));
}

/**
 * Makes the page /try in a folder of any static site. `glossary`: where the site has the glossary, as an address relative to the folder. `starts`: the
 * names of the start policies that it offers, each of which a tab loads when a run begins from it.
 */
export async function buildTryPage(
  folder: string,
  glossary: string,
  starts: readonly string[] = TRIED,
): Promise<void> {
  await bundleTry(folder);
  await placeStarts(folder, starts);
  const html = readFileSync(join(TRY_FOLDER, 'index.html'), 'utf8');
  writeFileSync(
    join(folder, 'index.html'),
    html.replace('data-glossary="../glossary/"', `data-glossary="${glossary}"`),
  );
}

/** Makes the files of the pages /node and /try where they are missing or older than their sources. An installation that may not be written to does without, and says so. */
export async function ensureTabPages(): Promise<void> {
  if (!(await whereWritable(buildTabPages)))
    console.warn(
      `rollmesh: the pages /node and /try cannot be made, since ${INSTALLATION} may not be written to. Start a mesh once as the user who installed it.`,
    );
  await whereWritable(placeRuntimes);
  await whereWritable(() => placeStarts(TRY_FOLDER));
}

async function buildTabPages(): Promise<void> {
  for (const [made, folder] of [
    [(at: string) => bundle(NODE_PAGE, at), NODE_FOLDER],
    [bundleTry, TRY_FOLDER],
  ] as const) {
    if (isCurrent(folder)) continue;
    // Asked first: a bundle takes seconds.
    accessSync(folder, constants.W_OK);
    // What a package leaves out for browsers has an entry, and is no file.
    const inputs = Object.keys(await made(folder)).filter((input) => !input.startsWith('(disabled):'));
    place(join(folder, INPUTS), (own) => writeFileSync(own, JSON.stringify(inputs)));
  }
}
