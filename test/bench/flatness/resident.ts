/** Reads the resident memory of the processes in a process group, by program. For Linux and macOS, which have `ps`. */
import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';

/** Resident bytes by the program's name, summed over processes of the same name. */
export function residentBytes(group: number): Readonly<Record<string, number>> {
  const listed = execFileSync('ps', ['-A', '-o', 'pgid=,rss=,comm='], { encoding: 'utf8' });
  const found: Record<string, number> = {};
  for (const line of listed.split('\n')) {
    const [, pgid, kilobytes, command] = /^\s*(\d+)\s+(\d+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (Number(pgid) !== group || command === undefined) continue;
    const name = basename(command);
    found[name] = (found[name] ?? 0) + Number(kilobytes) * 1024;
  }
  return found;
}
