/** A row of a table that stands outside one is shown as text, with its bars. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PAGES } from './commands.ts';

const isRow = (line: string | undefined): boolean => line?.startsWith('|') ?? false;

/** Rows that no head and no rule below it make a table of. */
function lostRows(text: string): string[] {
  const lines = text.replace(/^```[\s\S]*?^```/gm, '').split('\n');
  return lines.filter(
    (line, i) => isRow(line) && !isRow(lines[i - 1]) && !/^\|(?:\s*:?-+:?\s*\|)+$/.test(lines[i + 1] ?? ''),
  );
}

test.each(PAGES)('%s: every row is in a table', (page) => {
  expect(lostRows(readFileSync(page, 'utf8'))).toEqual([]);
});

test('a blank line ends a table', () => {
  expect(lostRows('| a | b |\n|---|:-:|\n| 1 | 2 |\n\n| 3 | 4 |\n')).toEqual(['| 3 | 4 |']);
});
