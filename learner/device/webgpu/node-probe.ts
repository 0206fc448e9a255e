/**
 * Asks in a process of its own which adapter Dawn finds. Dawn and the drivers write warnings to the terminal where nobody can turn them off,
 * and a machine whose GPU is not used should not show them.
 */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

export type FoundAdapter = 'none' | 'software' | 'gpu';

const TIMEOUT_MS = 60_000;

const scriptOf = (dawn: string) => `
  const { create, globals } = await import(${JSON.stringify(dawn)});
  Object.assign(globalThis, globals);
  const adapter = await create([]).requestAdapter({ powerPreference: 'high-performance' });
  process.stdout.write(adapter ? (adapter.info.isFallbackAdapter ? 'software' : 'gpu') : 'none');
  process.exit(0);`;

/** Rejects where Dawn has no binary for the platform, or does not start. */
export async function probeAdapter(): Promise<FoundAdapter> {
  const dawn = pathToFileURL(createRequire(import.meta.url).resolve('webgpu')).href;
  const args = ['--input-type=module', '-e', scriptOf(dawn)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: TIMEOUT_MS });
  return stdout as FoundAdapter;
}
