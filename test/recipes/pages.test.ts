/** The pages that lead through the sources name files that are there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';

const ROOMS = [
  'cli',
  'core',
  'infer',
  'kernels',
  'learner',
  'local',
  'model',
  'protocols',
  'recipes',
  'workers',
  'worlds',
];
const files = ROOMS.flatMap((room) =>
  readdirSync(room, { recursive: true, encoding: 'utf8' }).map((file) => basename(file)),
);
const known = new Set(['sdk.ts', ...files]);

test.each(['docs/how-it-works.md', 'docs/write-a-recipe.md'])('%s', (page) => {
  const named = [...readFileSync(page, 'utf8').matchAll(/`([\w./-]+\.ts)`/g)].map(([, file]) => file!);
  // A bare name stands for a file of the folder that was named before it, or of the reader's own project (`./recipe.ts`).
  const gone = named.filter((file) => !(file.includes('/') ? existsSync(file) : known.has(file)));
  expect(named.length).toBeGreaterThan(0);
  expect(gone.filter((file) => !file.startsWith('./'))).toEqual([]);
});
