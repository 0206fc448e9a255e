/** A process that is killed takes what it spawned with it, though it gets to do nothing about it. */
import { execFileSync, spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { NODE_FLAGS } from '../../local/mesh/installation.ts';

const SCRIPT = `
  import childProcess from 'node:child_process';
  import { withGuardedChildren } from '${pathToFileURL('local/mesh/kill-workerd-with-parent.ts')}';
  const guarded = await withGuardedChildren(async () => childProcess.spawn('sleep', ['60'], { stdio: 'ignore' }));
  console.log(guarded.pid);
  setInterval(() => {}, 1000);
`;

/** Running, and not merely waiting for someone to ask how it ended. */
function runs(pid: string): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).trim().startsWith('Z');
  } catch {
    return false;
  }
}

test.skipIf(process.platform === 'win32')('SIGKILL leaves no orphan', async () => {
  const parent = spawn(process.execPath, [...NODE_FLAGS, '--input-type=module', '-e', SCRIPT]);
  const pid = await new Promise<string>((resolve, reject) => {
    parent.stdout.once('data', (chunk) => resolve(String(chunk).trim()));
    parent.once('exit', () => reject(new Error('it ended before it had a child')));
  });
  expect(runs(pid)).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => runs(pid), { timeout: 5000 }).toBe(false);
});
