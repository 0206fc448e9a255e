/** What the pages on trust say, and the list of what was attacked, name the tests that hold it: each is there, and no row is without one. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { auditOption } from '../../cli/shared/run-options.ts';

const PAGES = ['docs/security.md', 'docs/trust.md', 'test/trust/README.md'];

/** The tests that a text names: by their path, or by their file's name in the same folder. */
function named(page: string, text: string): string[] {
  const whole = [...text.matchAll(/`(test\/[\w./-]+?)(?:\.test)?(?:\.ts)?`/g)].map(([, path]) => path!);
  const beside = [...text.matchAll(/`([\w-]+)\.test`/g)].map(([, name]) => join(dirname(page), name!));
  return [...whole, ...beside];
}

/** A path without its ending stands for a test file, one with an ending for that file, a folder for the tests in it. */
const isThere = (path: string) => [path, `${path}.test.ts`, `${path}.ts`].some((file) => existsSync(file));

test.each(PAGES)('%s names tests that are there', (page) => {
  const found = named(page, readFileSync(page, 'utf8'));
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter((path) => !isThere(path))).toEqual([]);
});

test('where a page names a test by its title, that test is there', () => {
  const named = readFileSync('test/trust/README.md', 'utf8').matchAll(/`(test\/[\w./-]+)`: “([^”]+)”/g);
  const missing = [...named].filter(
    ([, path, title]) => !readFileSync(`${path}.test.ts`, 'utf8').includes(title!),
  );
  expect(missing.map(([whole]) => whole)).toEqual([]);
});

test('the share that an audit draws by default is the one that docs/trust.md states the cost of', () => {
  const page = readFileSync('docs/trust.md', 'utf8');
  expect(page).toContain(`\`npx rollmesh learner\`, ${auditOption().defaultValue} by default`);
});

test.each([
  ['docs/security.md', '| attack | defence | shown by |'],
  ['test/trust/README.md', '| docs/trust.md | shown by |'],
  ['test/trust/README.md', '| docs/security.md | shown by |'],
  ['test/trust/README.md', '| finding | test | seen to fail |'],
  ['test/trust/README.md', '| attack | test | seen to fail |'],
  ['test/trust/README.md', '| promise | held by |'],
])('%s: every row of %s names a test', (page, head) => {
  const lines = readFileSync(page, 'utf8').split('\n');
  const from = lines.indexOf(head) + 2;
  expect(from).toBeGreaterThan(1);
  const rows = lines.slice(from, lines.indexOf('', from) < 0 ? undefined : lines.indexOf('', from));
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.filter((row) => !named(page, row).length)).toEqual([]);
});
