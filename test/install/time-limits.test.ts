/** A test has no shorter time limit than vitest.config.ts has for all, which a busy machine would exceed. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOR_ALL = 600_000;
/** A limit as options of a test, as its last argument, or of all tests of a file. */
const LIMITS =
  /\{\s*timeout: ([\d_]+),?\s*\},\s*(?:async\b|\()|^\s*\},\s*([\d_]{4,}),?\s*\);|(?:test|hook)Timeout: ([\d_]+)/gm;

const shortest = (text: string): number =>
  Math.min(
    ...[...text.matchAll(LIMITS)].map(([, ...limits]) => Number(limits.find(Boolean)!.replaceAll('_', ''))),
  );

test('no test has a shorter time limit than all have', () => {
  const files = globSync('{test,lab}/**/*.test.ts', { exclude: (name) => name === 'node_modules' });
  expect(files.length).toBeGreaterThan(400);
  expect(files.filter((file) => shortest(readFileSync(file, 'utf8')) < FOR_ALL)).toEqual([]);
  expect(shortest(readFileSync('vitest.config.ts', 'utf8'))).toBe(FOR_ALL);
});
