/**
 * `npm run check:recipes [-- NAME …]`: every recipe comes to the same bytes in the mesh as in one process, and its page is walked through in a
 * browser. With names, those recipes alone; without, what came of each is written to bench/results/recipes.json.
 */
import { writeFileSync } from 'node:fs';
import { startVitest } from 'vitest/node';
import { thisMachine } from '../../bench/machine.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { CHOSEN } from './chosen.ts';

const RESULTS = 'bench/results/recipes.json';
/** What is played of each recipe, and the file that plays it; the names of its tests begin with the recipe's and a colon. */
const PLAYED = { mesh: 'test/mesh/every-recipe.test.ts', page: 'test/browser/every-recipe.test.ts' } as const;

const named = process.argv.slice(2).map((name) => shipped.find(name).name);
process.env[CHOSEN] = named.join(',') || 'all';

const vitest = await startVitest('test', Object.values(PLAYED), {
  run: true,
  ...(named.length ? { testNamePattern: `(?:^| )(?:${named.join('|')}):` } : {}),
});
const tests = vitest.state
  .getTestModules()
  .flatMap((module) => [...module.children.allTests()].map((test) => ({ file: module.moduleId, test })));
await vitest.close();

/** The state of a recipe's test, and how long it took, s. */
function cameOf(name: string, file: string) {
  const found = tests.find(({ file: of, test }) => of.endsWith(file) && test.name.startsWith(`${name}:`));
  return {
    state: found?.test.result().state ?? 'missing',
    seconds: Math.round((found?.test.diagnostic()?.duration ?? 0) / 100) / 10,
  };
}

const came = recipes
  .filter(({ name }) => !named.length || named.includes(name))
  .map(({ name }) => ({ name, mesh: cameOf(name, PLAYED.mesh), page: cameOf(name, PLAYED.page) }));
const failed = came.filter(({ mesh, page }) =>
  [mesh, page].some(({ state }) => !/passed|skipped/.test(state)),
);
if (failed.length) console.error(`Did not pass: ${failed.map(({ name }) => name).join(', ')}.`);
else if (!named.length) {
  const result = { what: 'npm run check:recipes', machine: thisMachine(), recipes: came };
  writeFileSync(RESULTS, `${JSON.stringify(result, null, 2)}\n`);
  console.log(`Written to ${RESULTS}.`);
}
process.exit(failed.length || process.exitCode ? 1 : 0);
