/** Serves a page from memory, with the cross-origin isolation that the runtime's shared memory needs. */

import type { Page } from 'playwright-core';
import { build } from '../../../local/mesh/esbuild.ts';
import { openBrowser } from './chromium.ts';

/** The page's files, by path. */
export type PageFiles = Readonly<
  Record<string, { readonly contentType: string; readonly body: string | Buffer }>
>;

const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

export const pageFile = {
  script: (body: string | Buffer) => ({ contentType: 'text/javascript', body }),
  json: (value: unknown) => ({ contentType: 'application/json', body: JSON.stringify(value) }),
  wasm: (body: Buffer) => ({ contentType: 'application/wasm', body }),
  binary: (bytes: Uint8Array) => ({ contentType: 'application/octet-stream', body: Buffer.from(bytes) }),
};

/** Bundles a page's script from TypeScript and makes the page that loads it. */
export async function pageOf(entryPoint: string): Promise<PageFiles> {
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    format: 'esm',
    external: ['node:*', 'module', 'worker_threads'],
  });
  return {
    '/': { contentType: 'text/html', body: '<script type="module" src="/page.mjs"></script>' },
    '/page.mjs': pageFile.script(outputFiles[0]!.text),
  };
}

/** Opens the page, waits until its script has set the global `ready`, and closes it after `use`. */
export async function withIsolatedPage<T>(
  files: PageFiles,
  ready: string,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.route('**/*', (route) => {
      const file = files[new URL(route.request().url()).pathname];
      return file ? route.fulfill({ ...file, headers: HEADERS }) : route.fulfill({ status: 404 });
    });
    await page.goto('http://localhost/');
    await page.waitForFunction(`globalThis.${ready} !== undefined`);
    return await use(page);
  } finally {
    await browser.close();
  }
}
