/** Tells when a process began, so that a later process with the same id is not mistaken for it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** On Linux: ticks since the boot, with the boot's id, since process ids and ticks start again at each boot. */
function bornOnLinux(pid: number): string | null {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // After the name, which may hold anything, in brackets: state, parent, … , and the start as the twentieth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
}

function bornElsewhere(pid: number): string | null {
  const lines = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const [state = '', ...start] = lines.trim().split(/\s+/);
  return state.startsWith('Z') ? null : start.join(' ');
}

/** A text that identifies the process's start. Null where no process, or only a zombie, has the id; undefined where it cannot be known. */
export function bornOf(pid: number): string | null | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return null;
  }
  try {
    return process.platform === 'linux' ? bornOnLinux(pid) : bornElsewhere(pid);
  } catch {
    return undefined;
  }
}
