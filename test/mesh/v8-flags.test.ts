import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Miniflare } from 'miniflare';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { installV8Flags } from '../../local/mesh/v8-flags.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollmesh-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** The flags that a Miniflare writes into workerd's configuration, where these were set before. */
async function flagsWith(set: string): Promise<unknown> {
  vi.stubEnv('MINIFLARE_WORKERD_V8_FLAGS', set);
  vi.stubEnv('MINIFLARE_WORKERD_CONFIG_DEBUG', join(folder, 'config.json'));
  installV8Flags();
  installV8Flags();
  const mf = new Miniflare(WORKER);
  try {
    expect(await (await mf.dispatchFetch('http://worker/')).text()).toBe('up');
  } finally {
    await mf.dispose();
  }
  return JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).v8Flags;
}

const WORKER = {
  modules: true,
  script: 'export default { fetch: () => new Response("up") }',
};

test('Miniflare writes the mesh’s flags into workerd’s configuration, each once, and workerd takes them', async () => {
  expect(await flagsWith('--stack-size=900 --gc-global')).toEqual([
    '--stack-size=900',
    '--gc-global',
    '--single-threaded-gc',
    '--min-semi-space-size=3',
    '--wasm-tiering-budget=30000000',
  ]);
});

test('a flag that was set otherwise stays as it was set', async () => {
  expect(await flagsWith('--no-gc-global --min-semi-space-size=8')).toEqual([
    '--no-gc-global',
    '--min-semi-space-size=8',
    '--single-threaded-gc',
    '--wasm-tiering-budget=30000000',
  ]);
});

test('workerd reads every flag of the list: it names one that it does not know', async () => {
  vi.stubEnv('MINIFLARE_WORKERD_V8_FLAGS', '--no-such-flag');
  installV8Flags();
  let said = '';
  const mf = new Miniflare({
    ...WORKER,
    handleRuntimeStdio: (_: Readable, stderr: Readable) => {
      stderr.on('data', (chunk: Uint8Array) => {
        said += chunk;
      });
    },
  });
  await expect(mf.ready).rejects.toThrow();
  expect(said).toContain('--no-such-flag');
  await mf.dispose().catch(() => undefined);
});
