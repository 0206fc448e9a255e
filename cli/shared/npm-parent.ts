/** Notices that the npm which started this command has ended: a signal that is sent to npm alone does not reach what it started. */
import { execFileSync } from 'node:child_process';

const LOOK_EVERY_MS = 1000;

/** Calls `gone` once, when npm has ended. Does nothing for a command that npm did not start, or where there is no `ps`. */
export function whenNpmEnds(gone: () => void): void {
  const npm = process.env.npm_lifecycle_event === undefined ? undefined : findNpm();
  if (npm === undefined) return;
  const timer = setInterval(() => {
    if (runs(npm)) return;
    clearInterval(timer);
    gone();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** npm is the parent, or the parent of the shell that npm starts scripts with. It calls itself `npm` and its arguments. */
function findNpm(): number | undefined {
  let pid = process.ppid;
  for (let level = 0; level < 2; level++) {
    const [, parent, title] = /^\s*(\d+)\s+(.*)/.exec(describe(pid)) ?? [];
    if (title === undefined) return undefined;
    if (/^npm\b/.test(title)) return pid;
    pid = Number(parent);
  }
  return undefined;
}

/** The parent and the title of a process, in a line. */
function describe(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return ''; // There is no such process, or no ps.
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
