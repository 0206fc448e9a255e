/** Against wllama (llama.cpp as wasm), both in one page of headless Chromium, one thread each. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium, type Page } from 'playwright-core';
import { toHfConfig } from '../../model/hf-config.ts';
import { packWeights } from '../../model/onnx/weights.ts';
import { ggufCheckpoint } from './gguf-checkpoint.ts';
import { MAX_NEW, PROMPT } from './measure.ts';
import { type AgainstPeer, type BenchCheckpoint, folderOf, install, interleave } from './peers.ts';
import type { Shape } from './prompts.ts';
import type { PageRequest } from './wllama.page.ts';

const peer = { package: '@wllama/wllama', version: '3.8.1' };
/** Nats: what float32 in another order of summation may differ by. A wrong conversion differs by far more. */
const LARGEST_ERROR = 1e-4;
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const ortWasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');

type Files = Record<string, { readonly contentType: string; readonly body: string | Buffer }>;

async function filesOf({ config, tensors }: BenchCheckpoint): Promise<Files> {
  const { outputFiles } = await build({
    entryPoints: ['bench/rollout/wllama.page.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    external: ['node:*', 'module', 'worker_threads'],
  });
  const script = (body: string | Buffer) => ({ contentType: 'text/javascript', body });
  const wasm = (path: string) => ({ contentType: 'application/wasm', body: readFileSync(path) });
  const binary = (bytes: Uint8Array) => ({
    contentType: 'application/octet-stream',
    body: Buffer.from(bytes),
  });
  const wllama = join(folderOf(peer), 'esm');
  return {
    '/': { contentType: 'text/html', body: '<script type="module" src="/page.mjs"></script>' },
    '/page.mjs': script(outputFiles[0]!.text),
    '/ort.wasm': wasm(ortWasm),
    '/weights.bin': binary(packWeights(config, tensors)),
    '/wllama.mjs': script(readFileSync(join(wllama, 'index.js'))),
    '/wllama.wasm': wasm(join(wllama, 'wasm/wllama.wasm')),
    '/model.gguf': binary(ggufCheckpoint(config, tensors)),
  };
}

async function serve(page: Page, files: Files): Promise<void> {
  await page.route('**/*', (route) => {
    const file = files[new URL(route.request().url()).pathname];
    // The two policies allow the shared memory that the policy's runtime asks for.
    const headers = {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    };
    return file ? route.fulfill({ ...file, headers }) : route.fulfill({ status: 404 });
  });
  await page.goto('http://localhost/');
  await page.waitForFunction('globalThis.openBoth !== undefined');
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
  if (!existsSync(executablePath)) throw new Error(`No Chromium at ${executablePath}: set CHROMIUM_PATH.`);
  await install(peer);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await serve(page, await filesOf(checkpoint));
    const request: PageRequest = {
      config: toHfConfig(checkpoint.config),
      shape,
      prompt: PROMPT,
      maxNew: MAX_NEW,
    };
    const { error } = await page.evaluate<{ error: number }>(`openBoth(${JSON.stringify(request)})`);
    if (!(error <= LARGEST_ERROR))
      throw new Error(
        `wllama's log-probabilities are off by ${error}: the checkpoint was converted wrongly.`,
      );
    const side = (name: 'ours' | 'theirs') => () => page.evaluate<number>(`${name}()`);
    const sides = { peer, at: 'Chromium', ours: side('ours'), theirs: side('theirs') } as const;
    return { ...(await interleave(sides, shape, rounds)), error };
  } finally {
    await browser.close();
  }
}
