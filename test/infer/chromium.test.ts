import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHROMIUM_NEEDED, chromiumPath } from '../../bench/browser/chromium.ts';
import { pageFile, pageOf, withIsolatedPage } from '../../bench/browser/isolated-page.ts';
import { toHfConfig } from '../../model/hf-config.ts';
import { config, inNode, request, weights } from './replay-case.ts';
import { wasmPath } from './worker-bundle.ts';

test.skipIf(!chromiumPath)(`Node and Chromium give the same bits${CHROMIUM_NEEDED}`, async () => {
  const files = {
    ...(await pageOf('test/infer/generate.browser.ts')),
    '/ort.wasm': pageFile.wasm(readFileSync(wasmPath)),
    '/weights.bin': pageFile.binary(weights),
  };
  const made = await withIsolatedPage(files, 'generate', (page) =>
    page.evaluate<string>(`generate(${JSON.stringify(toHfConfig(config))}, ${JSON.stringify(request)})`),
  );
  expect(JSON.parse(made)).toEqual(await inNode());
});
