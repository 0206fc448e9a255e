/**
 * After each file: no process that its tests started is still running. The files of a project share their process, so a mesh that one
 * of them leaves behind would be taken for the next one's, and its processor time is everybody's.
 */
import { execFileSync } from 'node:child_process';
import { afterAll, expect } from 'vitest';

/** Processes of this one, but for those that have ended, the `ps` that asks and esbuild's service, which a process starts once and keeps. */
function children(): string[] {
  const rows = execFileSync('ps', ['-A', '-o', 'ppid=,pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return rows.flatMap((row) => {
    const [, parent, pid, stat, args = ''] = /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(row) ?? [];
    const counts =
      Number(parent) === process.pid && !stat!.startsWith('Z') && !/^ps -A|esbuild --service=/.test(args);
    return counts ? [`${pid} ${args}`] : [];
  });
}

const before = children();
const left = () => children().filter((child) => !before.includes(child));

// The hooks of the file itself, declared later, have run before this one. A process that was ended needs a moment.
afterAll(async () => {
  const end = Date.now() + 20_000;
  while (left().length && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 100));
  expect(left(), 'processes that the tests of this file left running').toEqual([]);
});
