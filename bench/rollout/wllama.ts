/** Compares with wllama (llama.cpp as wasm): both run in one page of headless Chromium with one thread each. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { toHfConfig } from '../../model/hf-config.ts';
import { packWeights } from '../../model/onnx/weights.ts';
import { chromiumPath } from '../browser/chromium.ts';
import { type PageFiles, pageFile, pageOf, withIsolatedPage } from '../browser/isolated-page.ts';
import { ggufCheckpoint } from './gguf-checkpoint.ts';
import { MAX_NEW, PROMPT } from './measure.ts';
import { type AgainstPeer, type BenchCheckpoint, folderOf, install, interleave } from './peers.ts';
import type { Shape } from './prompts.ts';
import type { PageRequest } from './wllama.page.ts';

const peer = { package: '@wllama/wllama', version: '3.8.1' };
/** Nats: what float32 in another order of summation may differ by. A wrong conversion differs by far more. */
const LARGEST_ERROR = 1e-4;
const ortWasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');

async function filesOf({ config, tensors }: BenchCheckpoint): Promise<PageFiles> {
  const wllama = join(folderOf(peer), 'esm');
  return {
    ...(await pageOf('bench/rollout/wllama.page.ts')),
    '/ort.wasm': pageFile.wasm(readFileSync(ortWasm)),
    '/weights.bin': pageFile.binary(packWeights(config, tensors)),
    '/wllama.mjs': pageFile.script(readFileSync(join(wllama, 'index.js'))),
    '/wllama.wasm': pageFile.wasm(readFileSync(join(wllama, 'wasm/wllama.wasm'))),
    '/model.gguf': pageFile.binary(ggufCheckpoint(config, tensors)),
  };
}

export interface AgainstWllama extends AgainstPeer {
  /** Greatest difference of log-probabilities (nats) of greedy tokens, before anything was timed. */
  readonly error: number;
}

export async function measureWllama(
  rounds: number,
  checkpoint: BenchCheckpoint,
  shape: Shape,
): Promise<AgainstWllama> {
  if (!chromiumPath) throw new Error('The bench against wllama needs a Chromium: name one in CHROMIUM.');
  await install(peer);
  const request: PageRequest = {
    config: toHfConfig(checkpoint.config),
    shape,
    prompt: PROMPT,
    maxNew: MAX_NEW,
  };
  return await withIsolatedPage(await filesOf(checkpoint), 'openBoth', async (page) => {
    const { error } = await page.evaluate<{ error: number }>(`openBoth(${JSON.stringify(request)})`);
    if (!(error <= LARGEST_ERROR))
      throw new Error(
        `wllama's log-probabilities are off by ${error}: the checkpoint was converted wrongly.`,
      );
    const side = (name: 'ours' | 'theirs') => () => page.evaluate<number>(`${name}()`);
    const sides = { peer, at: 'Chromium', ours: side('ours'), theirs: side('theirs') } as const;
    return { ...(await interleave(sides, shape, rounds)), error };
  });
}
