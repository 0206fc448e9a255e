/**
 * Deletes from dist/ the declarations of types that nobody can import: those that the files of the package's `exports` do not lead to. The
 * package has a thousand, and six in seven are of commands and other inner parts.
 */
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What a declaration imports, as in `import { a } from './b.js'`, `export * from './b.ts'` and `import('./b.js').C`. */
const IMPORTED = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** Of the declaration in `file`, the declarations that it imports. */
const importedBy = (file) =>
  [...readFileSync(file, 'utf8').matchAll(IMPORTED)]
    .map(([, path]) => join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')))
    .filter((path) => existsSync(path));

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const reached = new Set();
const waiting = Object.values(exports).flatMap(({ types }) => (types ? [join(types)] : []));
for (let file = waiting.pop(); file; file = waiting.pop()) {
  if (reached.has(file)) continue;
  reached.add(file);
  waiting.push(...importedBy(file));
}
for (const file of globSync('dist/**/*.d.ts')) if (!reached.has(file)) rmSync(file);
