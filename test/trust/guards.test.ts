/** The list of guards fits the code and docs/security.md, so that `.ci/guards` takes out what is there. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GUARDS, NOT_HERE } from './guards.ts';

const attacks = (): string[] => {
  const text = readFileSync('docs/security.md', 'utf8').split('## What is defended')[1]!.split('\n## ')[0]!;
  return text
    .split('\n')
    .flatMap((line) => (/^\| (?!attack|---)(.*?) \|/.exec(line)?.[1] ?? []) as string[] | string);
};

test('every guard stands once where it is said to, and its tests are there', () => {
  for (const { file, guard, without, tests } of GUARDS) {
    expect(readFileSync(file, 'utf8').split(guard).length - 1, `${file}: ${guard}`).toBe(1);
    expect(without).not.toBe(guard);
    for (const name of tests)
      expect(existsSync(`test/${name}.test.ts`) || existsSync(`test/${name}`), name).toBe(true);
  }
});

test('every attack of docs/security.md has a guard that is taken out, or a reason why none is', () => {
  const rows = attacks();
  expect(rows.length).toBeGreaterThan(45);
  const known = [...GUARDS.map(({ attack }) => attack), ...Object.keys(NOT_HERE)];
  expect(rows.filter((row) => !known.some((attack) => row.startsWith(attack)))).toEqual([]);
  expect(known.filter((attack) => !rows.some((row) => row.startsWith(attack)))).toEqual([]);
});
