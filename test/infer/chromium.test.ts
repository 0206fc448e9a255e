import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toHfConfig } from '../../model/hf-config.ts';
import { CHROMIUM_NEEDED, chromiumPath } from '../bench/browser/chromium.ts';
import { pageFile, pageOf, withIsolatedPage } from '../bench/browser/isolated-page.ts';
import { config, inNode, request, types, weightsOf } from './replay-case.ts';
import { wasmPath } from './worker-bundle.ts';

test.skipIf(!chromiumPath)(`Node and Chromium give the same bits${CHROMIUM_NEEDED}`, async () => {
  const files = {
    ...(await pageOf('test/infer/generate.browser.ts')),
    '/ort.wasm': pageFile.wasm(readFileSync(wasmPath)),
    ...Object.fromEntries(types.map((type) => [`/${type}.bin`, pageFile.binary(weightsOf(type))])),
  };
  await withIsolatedPage(files, 'generate', async (page) => {
    for (const type of types) {
      const asked = [toHfConfig(config), type, request].map((value) => JSON.stringify(value));
      const made = await page.evaluate<string>(`generate(${asked.join()})`);
      expect(JSON.parse(made), type).toEqual(await inNode(type));
    }
  });
});
