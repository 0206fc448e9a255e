/** Subjects of commits are short enough for every list that shows them, and name what changes (CONTRIBUTING.md). */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The last commit whose subject is longer. Records name commits, so that those before it stay as they are. */
const LAST_LONG = '63cb6787';
/** The last commit before subjects had to begin with what is done to the code. */
const LAST_MOOD = 'd161fe67';
const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Whether this is a checkout that knows a commit. A shallow one, or an unpacked archive, has nothing to compare. */
const known = (commit: string): boolean => {
  try {
    return existsSync('.git') && git('cat-file', '-t', commit) === 'commit\n';
  } catch {
    return false;
  }
};

/** The subjects since a commit, each after the name of its commit and a space. */
const subjectsSince = (commit: string): string[] =>
  git('log', '--format=%h %s', `${commit}..HEAD`).split('\n').filter(Boolean);
const subjectOf = (line: string): string => line.slice(line.indexOf(' ') + 1);

test.skipIf(!known(LAST_LONG))('no subject of a commit since is longer than 72 characters', () => {
  expect(subjectsSince(LAST_LONG).filter((line) => subjectOf(line).length > 72)).toEqual([]);
});

test.skipIf(!known(LAST_MOOD))(
  'no subject of a commit since says what the text says in place of what changes',
  () => {
    const moods = /^(?:Say|Let|Mend|Tell|Hold)\b/;
    expect(subjectsSince(LAST_MOOD).filter((line) => moods.test(subjectOf(line)))).toEqual([]);
  },
);
