/** The pages of a tab where others have a say: an installation that may not be written to, and a mesh that starts at the same moment. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { buildTryPage, ensureTabPages } from '../../local/mesh/tab-pages.ts';

const world = vi.hoisted(() => ({ isReadOnly: false, gone: '', build: vi.fn() }));
vi.mock('../../local/mesh/esbuild.ts', () => ({ build: world.build }));
vi.mock('../../local/mesh/code-hashes.ts', () => ({ codeOfSources: () => ({ recipes: {}, release: '' }) }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const whereWritable =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      if (world.isReadOnly) throw Object.assign(new Error('read-only file system'), { code: 'EROFS' });
      return call(...args);
    };
  return {
    ...fs,
    accessSync: whereWritable(fs.accessSync),
    // Of a folder that is there, nothing is asked.
    mkdirSync: (path: string, options: object) =>
      fs.existsSync(path) ? undefined : whereWritable(fs.mkdirSync)(path, options),
    ...Object.fromEntries(
      (['copyFileSync', 'linkSync', 'renameSync', 'rmSync', 'writeFileSync'] as const).map((name) => [
        name,
        whereWritable(fs[name] as (...args: unknown[]) => unknown),
      ]),
    ),
    existsSync: (path: string) =>
      !(world.isReadOnly && path.endsWith('tab.inputs.json')) && fs.existsSync(path),
    readdirSync: (path: string, ...more: []) => [
      ...fs.readdirSync(path, ...more),
      ...(world.gone === path ? ['part-gone.js'] : []),
    ],
  };
});

test('an installation that may not be written to says at once that it has none', async () => {
  const warned = vi.spyOn(console, 'warn').mockReturnValue();
  world.isReadOnly = true;
  await ensureTabPages().finally(() => {
    world.isReadOnly = false;
  });
  expect(world.build).not.toHaveBeenCalled();
  expect(warned.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^rollmesh: the pages \/node and \/try cannot be made, since .* may not be written to\./,
      ),
    ],
  ]);
});

test('an old part that another mesh has removed is not missed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-pages-'));
  world.build.mockResolvedValue({ outputFiles: [], metafile: { inputs: {} } });
  world.gone = folder;
  await buildTryPage(folder, '', []);
  world.gone = '';
  expect(readdirSync(folder)).toContain('index.html');
});
