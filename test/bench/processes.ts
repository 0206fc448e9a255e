/**
 * What Linux says in /proc of the processes that a benchmark has begun: their CPU time, because on a busy machine other programs disturb wall-clock
 * times, and their memory.
 */
import { readdirSync, readFileSync } from 'node:fs';

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // Threads and processes may end between listing and reading.
  }
};

/** The numbers among the names of a folder; none where there is no such folder. */
function numbersIn(path: string): number[] {
  try {
    return readdirSync(path)
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number);
  } catch {
    return [];
  }
}

/** The ids of all processes, with the names of their programs, by the ids of their parents. */
function processesByParent(): Map<number, { readonly pid: number; readonly program: string }[]> {
  const byParent = new Map<number, { pid: number; program: string }[]>();
  for (const pid of numbersIn('/proc')) {
    // The name is in brackets and may hold spaces; the parent comes two fields later.
    const [, program, parent] = read(`/proc/${pid}/stat`)?.match(/\((.*)\) \S (\d+)/s) ?? [];
    if (program === undefined) continue;
    const siblings = byParent.get(Number(parent)) ?? [];
    byParent.set(Number(parent), [...siblings, { pid, program }]);
  }
  return byParent;
}

/** Ids of this process's children by the name of their program; none where there is no /proc. */
export const childrenNamed = (name: string): number[] =>
  (processesByParent().get(process.pid) ?? [])
    .filter(({ program }) => program === name)
    .map(({ pid }) => pid);

/** The ids of a process, of its children, and of theirs. */
export function withDescendants(root: number): number[] {
  const byParent = processesByParent();
  const found: number[] = [];
  for (const open = [root]; open.length; ) {
    const pid = open.pop()!;
    found.push(pid);
    for (const child of byParent.get(pid) ?? []) open.push(child.pid);
  }
  return found;
}

/** The command line of a process, with spaces between its words; undefined where it has ended. */
export const commandLine = (pid: number): string | undefined =>
  read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ');

/** The resident bytes of a process, now and at their peak; 0 where it has ended. */
export function residentBytes(pid: number): { readonly now: number; readonly most: number } {
  const status = read(`/proc/${pid}/status`) ?? '';
  const of = (field: string) => 1024 * Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0);
  return { now: of('VmRSS'), most: of('VmHWM') };
}

/** The milliseconds that all threads of a process have run; undefined where the system does not report them. */
export function cpuMs(pid: number): number | undefined {
  const threads = numbersIn(`/proc/${pid}/task`);
  if (threads.length === 0) return undefined;
  const nanoseconds = threads.map((thread) =>
    Number(read(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0),
  );
  return nanoseconds.reduce((a, b) => a + b, 0) / 1e6;
}
