import { existsSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { toHfConfig } from '../../model/hf-config.ts';
import { config, inNode, request, weights } from './replay-case.ts';
import { wasmPath } from './worker-bundle.ts';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

test.skipIf(!existsSync(executablePath))('Node and Chromium give the same bits', async () => {
  const { outputFiles } = await build({
    entryPoints: ['test/infer/generate.browser.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    external: ['node:*', 'module', 'worker_threads'],
  });
  const files: Record<string, { contentType: string; body: string | Buffer }> = {
    '/': { contentType: 'text/html', body: '<script type="module" src="/script.mjs"></script>' },
    '/script.mjs': { contentType: 'text/javascript', body: outputFiles[0]!.text },
    '/ort.wasm': { contentType: 'application/wasm', body: readFileSync(wasmPath) },
    '/weights.bin': { contentType: 'application/octet-stream', body: Buffer.from(weights) },
  };
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.route('**/*', (route) => {
      const file = files[new URL(route.request().url()).pathname];
      // The two policies allow the shared memory that the runtime asks for.
      const headers = {
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
      };
      return file ? route.fulfill({ ...file, headers }) : route.fulfill({ status: 404 });
    });
    await page.goto('http://localhost/');
    await page.waitForFunction('globalThis.generate !== undefined');
    const made = await page.evaluate<string>(
      `generate(${JSON.stringify(toHfConfig(config))}, ${JSON.stringify(request)})`,
    );
    expect(JSON.parse(made)).toEqual(await inNode());
  } finally {
    await browser.close();
  }
});
