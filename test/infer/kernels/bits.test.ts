/**
 * The same bits on every host. The digests were the same in Node 22, Node 24, workerd and Chromium; they change only with the arithmetic, and
 * then a policy's reference means something else than it did.
 */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Miniflare } from 'miniflare';
import { expect, test, vi } from 'vitest';
import { BUILDS } from '../../../infer/kernels/builds.ts';
import { buildFile, loadBuilds, loadSharedBuilds } from '../../../infer/kernels/node-builds.ts';
import { isToLayOut, newSharedMemory } from '../../../infer/kernels/shared-weights.ts';
import { bundleWorker } from '../../../local/mesh/bundle.ts';
import { CHROMIUM_NEEDED, chromiumPath } from '../../bench/browser/chromium.ts';
import { pageFile, pageOf, withIsolatedPage } from '../../bench/browser/isolated-page.ts';
import { digestOf } from './replay.ts';

const DIGESTS = {
  fused: '8c4a4c9005d30eab8f19430b295f915307ae68418825da7f5a02058ee5fc5c55',
  plain: '36cee77e326c952a7cc653dfb40b49fb6ed6fd4fd26ade8ee04630d1724a9cb1',
  int8: '706bee16ca75264b4c1277512c4d6b7c29a7cf65f937c79a233870d51bd35541',
  w8a8: '0aa0be994051aa4f165c5bb0faa554d4f95a3436888bbec92f2193b2f7eeacdf',
} as const;

// The other tests run what V8's first compiler makes of a kernel (vitest.config.ts), these what its optimising one does.
const AT_ONCE = '--wasm-tiering-budget=1000';
setFlagsFromString(AT_ONCE);
vi.stubEnv('MINIFLARE_WORKERD_V8_FLAGS', AT_ONCE);
vi.stubEnv('CHROMIUM_FLAGS', `--js-flags=${AT_ONCE}`);

const forms = Object.keys(DIGESTS) as (keyof typeof DIGESTS)[];

test.each(forms)('%s in this Node', async (form) => {
  if (form === 'fused' && !loadBuilds().fused) return; // Node 20 has relaxed SIMD behind a flag only.
  expect(await digestOf(loadBuilds(), form)).toBe(DIGESTS[form]);
});

// The second of two windows lies above 2 GiB, where an address that is taken for a signed number is negative.
test.each(forms.flatMap((form) => [[form, 0] as const, [form, 1] as const]))(
  '%s in window %d of a memory that two threads share',
  async (form, thread) => {
    const shared = { ...newSharedMemory(), id: 1, thread, threads: 2 };
    expect(isToLayOut(shared)).toBe(true);
    expect(shared.memory.buffer.byteLength).toBe(2 ** 32);
    expect(await digestOf(loadSharedBuilds(), form, shared)).toBe(DIGESTS[form]);
  },
);

test.each(['int8', 'w8a8'] as const)('%s without relaxed SIMD', async (form) => {
  expect(await digestOf({ plain: loadBuilds().plain! }, form)).toBe(DIGESTS[form]);
});

test('all forms in workerd', async () => {
  const { root, modules } = await bundleWorker('test/infer/kernels/replay.worker.ts');
  const flags = ['nodejs_compat'];
  const worker = new Miniflare({
    modulesRoot: root,
    modules,
    compatibilityDate: '2026-04-01',
    compatibilityFlags: flags,
    cf: false,
  });
  try {
    for (const form of forms)
      expect(await (await worker.dispatchFetch(`http://worker/${form}`)).text(), form).toBe(DIGESTS[form]);
  } finally {
    await worker.dispose();
  }
});

test.skipIf(!chromiumPath)(`all forms in Chromium${CHROMIUM_NEEDED}`, async () => {
  const files = {
    ...(await pageOf('test/infer/kernels/replay.browser.ts')),
    ...Object.fromEntries(
      BUILDS.map((build) => [`/${build}.wasm`, pageFile.wasm(readFileSync(buildFile(build)))]),
    ),
  };
  await withIsolatedPage(files, 'replay', async (page) => {
    for (const form of forms)
      expect(await page.evaluate<string>(`replay(${JSON.stringify(form)})`), form).toBe(DIGESTS[form]);
  });
});
