/**
 * Takes out every guard of docs/security.md, one after the other, in a copy of the project, and runs its tests there. Ends with 1 where a guard's
 * removal fails no test. Words after the command choose guards by what their attack, file or line contains.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { GUARDS, type Guard } from './guards.ts';

const outcome = v.object({ numFailedTests: v.number(), numPassedTests: v.number() });

/** The project's files as they are now, beside the installed packages of this one. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-guards-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(file, join(folder, file), { force: true });
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** The time of one guard's tests, ms: without some guards what they try does not end, so that no test can. */
const LIMIT_MS = 400_000;

/** How many tests fail and pass in the copy; null where they do not end. */
async function played(
  folder: string,
  tests: readonly string[],
): Promise<v.InferOutput<typeof outcome> | null> {
  const report = join(folder, 'guards-report.json');
  rmSync(report, { force: true });
  const files = tests.map((name) => `test/${name}`);
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const options = ['run', ...files, '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  // A group of its own, so that a test that runs for ever ends with it.
  const child = spawn(process.execPath, [vitest, ...options], {
    cwd: folder,
    stdio: 'ignore',
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), LIMIT_MS);
  const [, signal] = await once(child, 'exit');
  clearTimeout(timer);
  if (signal) return null;
  return v.parse(outcome, JSON.parse(readFileSync(report, 'utf8')));
}

/** Whether a test fails without the guard; `words`: what became of them. */
async function takeOut(
  folder: string,
  { file, guard, without, tests }: Guard,
): Promise<{ seen: boolean; words: string }> {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(guard, () => without),
  );
  try {
    const result = await played(folder, tests);
    if (!result) return { seen: true, words: 'they do not end' };
    const { numFailedTests, numPassedTests } = result;
    return {
      seen: numFailedTests > 0,
      words: `${numFailedTests} of ${numFailedTests + numPassedTests} fail`,
    };
  } catch (error) {
    return { seen: false, words: `no result: ${String(error)}` };
  } finally {
    writeFileSync(path, text);
  }
}

const wanted = process.argv.slice(2);
const chosen = GUARDS.filter(({ attack, file, guard }) =>
  wanted.length ? wanted.some((word) => `${attack} ${file} ${guard}`.includes(word)) : true,
);
const folder = copyProject();
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let unseen = 0;
for (const guard of chosen) {
  const { seen, words } = await takeOut(folder, guard);
  if (!seen) unseen++;
  console.log(
    `${seen ? 'seen  ' : 'UNSEEN'} ${guard.attack} | ${guard.file}: ${guard.guard.slice(0, 60)} | ${words}`,
  );
}
console.log(`${chosen.length - unseen} of ${chosen.length} guards are seen by a test`);
process.exitCode = unseen ? 1 : 0;
