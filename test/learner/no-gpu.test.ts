/** Dawn and the drivers write warnings to the terminal. Where no GPU is used, none of them are seen. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const fileOf = (path: string) => new URL(`../../${path}`, import.meta.url).href;

/** What a program prints, in a process of its own. */
const run = (script: string) =>
  promisify(execFile)(
    process.execPath,
    ['--import', fileOf('cli/install/typescript.mjs'), '--input-type=module', '-e', script],
    { timeout: 60_000 },
  );

const ASKS_DAWN = `
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  const adapter = await create([]).requestAdapter({ powerPreference: 'high-performance' });
  console.log(adapter && !adapter.info.isFallbackAdapter ? 'gpu' : 'none');
  process.exit(0);`;

const OPENS_A_DEVICE = `
  const { openDevice } = await import(${JSON.stringify(fileOf('learner/device/node-host.ts'))});
  console.log((await openDevice({ device: 'auto', threads: 1 })).kind);
  process.exit(0);`;

test('the learner opens the CPU in silence on a machine without a GPU, whatever Dawn says of it', async (context) => {
  const asked = await run(ASKS_DAWN);
  context.skip(asked.stdout.trim() === 'gpu', 'this machine has a GPU');
  const { stdout, stderr } = await run(OPENS_A_DEVICE);
  expect(stdout).toBe('cpu\n');
  expect(stderr).toBe('');
});
