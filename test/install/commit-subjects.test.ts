/** Subjects of commits are short enough for every list that shows them (CONTRIBUTING.md). */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The last commit whose subject is longer. Records name commits, so that those before it stay as they are. */
const LAST_LONG = '63cb6787';
const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Whether this is a checkout that knows the last long one. A shallow one, or an unpacked archive, has nothing to compare. */
const known = (): boolean => {
  try {
    return existsSync('.git') && git('cat-file', '-t', LAST_LONG) === 'commit\n';
  } catch {
    return false;
  }
};

test.skipIf(!known())('no subject of a commit since is longer than 72 characters', () => {
  const subjects = git('log', '--format=%h %s', `${LAST_LONG}..HEAD`).split('\n').filter(Boolean);
  expect(subjects.filter((line) => line.slice(line.indexOf(' ') + 1).length > 72)).toEqual([]);
});
