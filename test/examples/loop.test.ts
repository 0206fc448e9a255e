/** examples/loop.ts is run as its first lines say: what a reader sees on one screen trains a policy. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const source = readFileSync('examples/loop.ts', 'utf8');

test('the loop is one screen', () => {
  expect(source.split('\n').length).toBeLessThanOrEqual(121);
});

test('eight rounds raise the accuracy, and a line says so for each', async () => {
  const [command, ...args] = /^ \* +(npx \S+ \S+)/m.exec(source)![1]!.split(' ');
  const { stdout } = await promisify(execFile)(command!, args);
  const [start, ...rounds] = stdout.trim().split('\n');
  const greedy = (line: string) => Number(/greedy accuracy .*?(\d+\.\d) %/.exec(line)![1]);
  const sampled = (line: string) => Number(/sampled accuracy (\d+\.\d) %/.exec(line)![1]);
  expect(start).toMatch(/^version 0: greedy accuracy \d/);
  expect(rounds.map((line) => /^round (\d+):/.exec(line)?.[1])).toEqual([...'12345678']);
  // 500 held-out sums: a standard error of 2.2 points at most, so that 20 points are no chance.
  expect(greedy(rounds.at(-1)!)).toBeGreaterThan(greedy(start!) + 20);
  expect(sampled(rounds.at(-1)!)).toBeGreaterThan(sampled(rounds[0]!) + 8);
});
