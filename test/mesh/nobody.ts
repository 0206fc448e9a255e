/** The account `nobody`, for tests of what another account of the machine may do. */
import { execFile } from 'node:child_process';

/** Runs a shell script as the account `nobody`, while this process goes on answering what it is asked. */
export function asNobody(
  script: string,
  ...args: string[]
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const account = ['--reuid=65534', '--regid=65534', '--clear-groups'];
  return new Promise((resolve) => {
    const child = execFile('setpriv', [...account, 'sh', '-c', script, 'sh', ...args], (_, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}
export const canBeNobody =
  process.platform === 'linux' && process.getuid?.() === 0 && (await asNobody('true')).status === 0;
if (!canBeNobody) console.warn('Skipped: only root on Linux can try what the account nobody may do.');
