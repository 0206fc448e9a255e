/** CPU time of a child process, from Linux' /proc, because on a busy machine other programs disturb wall-clock times. */
import { readdirSync, readFileSync } from 'node:fs';

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // Threads and processes may end between listing and reading.
  }
};

/** Ids of this process's children by the name of their program; none where there is no /proc. */
export function childrenNamed(name: string): number[] {
  return readdirIfThere('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      const stat = read(`/proc/${pid}/stat`);
      if (!stat) return false;
      // The name is in brackets and may hold spaces; the parent comes two fields later.
      const [, program, rest] = stat.match(/\((.*)\) \S (.*)/s) ?? [];
      return program === name && Number(rest?.split(' ')[0]) === process.pid;
    });
}

function readdirIfThere(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The milliseconds that all threads of a process have run; undefined where the system does not report them. */
export function cpuMs(pid: number): number | undefined {
  const threads = readdirIfThere(`/proc/${pid}/task`);
  if (threads.length === 0) return undefined;
  const nanoseconds = threads.map((thread) =>
    Number(read(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0),
  );
  return nanoseconds.reduce((a, b) => a + b, 0) / 1e6;
}
