/** Compares with peers in wasm, transformers.js and wllama (llama.cpp): all run in one page of headless Chromium, one thread each. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { BUILDS } from '../../../infer/kernels/builds.ts';
import { buildFile } from '../../../infer/kernels/node-builds.ts';
import { build } from '../../../local/mesh/esbuild.ts';
import { toHfConfig } from '../../../model/hf-config.ts';
import { packWeights, WEIGHTS_FILE } from '../../../model/onnx/weights.ts';
import { chromiumPath } from '../browser/chromium.ts';
import { type PageFiles, pageFile, pageOf, withIsolatedPage } from '../browser/isolated-page.ts';
import { commandLine, cpuMs, withDescendants } from '../processes.ts';
import type { PageRequest } from './chromium.page.ts';
import { exportedGraph } from './exported-graph.ts';
import { ggufCheckpoint } from './gguf-checkpoint.ts';
import { MAX_NEW, PROMPT } from './measure.ts';
import {
  type AgainstPeer,
  against,
  type BenchCheckpoint,
  folderOf,
  install,
  type Peer,
  peersFolder,
} from './peers.ts';
import type { Shape } from './prompts.ts';
import { TRANSFORMERS } from './transformers.ts';
import {
  inTurns,
  PAGE_SIDES,
  type PageErrors,
  type PageSide,
  type Turn,
  timed,
  warmUpEach,
} from './turns.ts';

const WLLAMA: Peer = { package: '@wllama/wllama', version: '3.13.0' };
/** Nats: what float32 in another order of summation may differ by. A wrong conversion differs by far more. */
const LARGEST_ERROR = 1e-4;
const MUST_BE_EXACT: readonly PageSide[] = ['fused', 'wllama', 'transformers'];
const ortWasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');

/** What the page holds, other than this project's engines. */
const PEER_SIDES = [
  { side: 'transformers', peer: TRANSFORMERS, weights: 'float32' },
  { side: 'transformers-q8', peer: TRANSFORMERS, weights: 'w8a8' },
  { side: 'wllama', peer: WLLAMA, weights: 'float32' },
  { side: 'wllama-q8', peer: WLLAMA, weights: 'q8_0' },
] as const satisfies readonly { side: PageSide; peer: Peer; weights: string }[];

/** transformers.js and the ONNX Runtime that it brings, as one script. */
async function transformersFiles(): Promise<PageFiles> {
  const ort = join(peersFolder, 'node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded');
  const { outputFiles } = await build({
    entryPoints: [join(folderOf(TRANSFORMERS), 'dist/transformers.web.js')],
    bundle: true,
    write: false,
    format: 'esm',
  });
  return {
    '/transformers.mjs': pageFile.script(outputFiles[0]!.text),
    '/transformers-ort.mjs': pageFile.script(readFileSync(`${ort}.mjs`)),
    '/transformers-ort.wasm': pageFile.wasm(readFileSync(`${ort}.wasm`)),
  };
}

async function filesOf({ config, tensors }: BenchCheckpoint): Promise<PageFiles> {
  const wllama = join(folderOf(WLLAMA), 'esm');
  const exported = (type: 'float32' | 'w8a8'): PageFiles => ({
    [`/models/${type}/config.json`]: pageFile.json(toHfConfig(config)),
    [`/models/${type}/generation_config.json`]: pageFile.json({}),
    [`/models/${type}/onnx/model.onnx`]: pageFile.binary(exportedGraph(config, type)),
    [`/models/${type}/${WEIGHTS_FILE}`]: pageFile.binary(packWeights(config, tensors, type)),
  });
  return {
    ...(await pageOf('test/bench/rollout/chromium.page.ts')),
    ...Object.fromEntries(
      BUILDS.map((name) => [`/${name}.wasm`, pageFile.wasm(readFileSync(buildFile(name)))]),
    ),
    '/ort.wasm': pageFile.wasm(readFileSync(ortWasm)),
    '/weights.bin': pageFile.binary(packWeights(config, tensors)),
    ...(await transformersFiles()),
    ...exported('float32'),
    ...exported('w8a8'),
    '/wllama.mjs': pageFile.script(readFileSync(join(wllama, 'index.js'))),
    '/wllama.wasm': pageFile.wasm(readFileSync(join(wllama, 'wasm/wllama.wasm'))),
    '/float32.gguf': pageFile.binary(ggufCheckpoint(config, tensors)),
    '/q8.gguf': pageFile.binary(ggufCheckpoint(config, tensors, 'Q8_0')),
  };
}

/** The CPU time so far of the processes that run pages of this process's browser: workers of a page run in its own. */
function rendererCpuMs(): number {
  const renderers = withDescendants(process.pid).filter((pid) =>
    commandLine(pid)?.includes('--type=renderer'),
  );
  if (renderers.length === 0) return performance.now();
  return renderers.reduce((sum, pid) => sum + (cpuMs(pid) ?? 0), 0);
}

export interface InChromium {
  /** By how much log-probabilities of greedy tokens differ from the ONNX policy's, before anything was timed. */
  readonly errors: PageErrors;
  readonly rows: readonly AgainstPeer[];
}

export async function measureInChromium(
  rounds: number,
  checkpoint: BenchCheckpoint,
  shape: Shape,
): Promise<InChromium> {
  if (!chromiumPath) throw new Error('The bench against peers needs a Chromium: name one in CHROMIUM.');
  await install(TRANSFORMERS);
  await install(WLLAMA);
  const request: PageRequest = {
    config: toHfConfig(checkpoint.config),
    shape,
    prompt: PROMPT,
    maxNew: MAX_NEW,
  };
  return await withIsolatedPage(await filesOf(checkpoint), 'openAll', async (page) => {
    const errors = await page.evaluate<PageErrors>(`openAll(${JSON.stringify(request)})`);
    for (const side of MUST_BE_EXACT)
      if (!(errors[side]!.max <= LARGEST_ERROR))
        throw new Error(`Log-probabilities of ${side} are off by ${errors[side]!.max} nats.`);
    const turn = (side: PageSide) =>
      timed(() => page.evaluate<Turn>(`turn(${JSON.stringify(side)})`), rendererCpuMs);
    await warmUpEach(PAGE_SIDES, turn);
    const turns = await inTurns(PAGE_SIDES, rounds, turn);
    const rows = PEER_SIDES.map(({ side, peer, weights }) => ({
      peer: `${peer.package}@${peer.version}`,
      weights,
      at: 'Chromium' as const,
      ...against(turns, side, shape),
    }));
    return { errors, rows };
  });
}
