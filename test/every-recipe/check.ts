/**
 * `.ci/recipes [-- NAME …]`: a recipe comes to the same bytes in the mesh as in one process,
 * and its page is walked through in a browser. With names, those recipes alone. What came of each is written to
 * test/bench/results/recipes.json.
 */
import '../../cli/install/require-node.mjs';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { startVitest } from 'vitest/node';
import { fail } from '../../cli/shared/fail.ts';
import { type Machine, thisMachine } from '../../local/machine.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { CHOSEN } from './chosen.ts';

const RESULTS = 'test/bench/results/recipes.json';
/** What is played of each recipe, and the file that plays it; the names of its tests begin with the recipe's and a colon. */
const PLAYED = { mesh: 'test/mesh/every-recipe.test.ts', page: 'test/browser/every-recipe.test.ts' } as const;

interface Came {
  readonly state: string;
  /** How long the test took. */
  readonly seconds: number;
}

/** Plays the recipes, or all where none is named. @returns what came of each; a page is `skipped` where there is no Chromium */
async function play(named: readonly string[]): Promise<{ name: string; mesh: Came; page: Came }[]> {
  process.env[CHOSEN] = named.join(',') || 'all';
  const vitest = await startVitest('test', Object.values(PLAYED), {
    run: true,
    ...(named.length ? { testNamePattern: `(?:^| )(?:${named.join('|')}):` } : {}),
  });
  const tests = vitest.state
    .getTestModules()
    .flatMap(({ moduleId, children }) => [...children.allTests()].map((test) => ({ file: moduleId, test })));
  await vitest.close();
  const cameOf = (name: string, file: string): Came => {
    // In the mesh a recipe may also have a test from another start.
    const found = tests.filter(({ file: of, test }) => of.endsWith(file) && test.name.startsWith(`${name}:`));
    const states = found.map(({ test }) => test.result().state);
    const ms = found.reduce((sum, { test }) => sum + (test.diagnostic()?.duration ?? 0), 0);
    return {
      state: states.find((state) => state !== 'passed') ?? states[0] ?? 'missing',
      seconds: Math.round(ms / 100) / 10,
    };
  };
  return recipes
    .filter(({ name }) => !named.length || named.includes(name))
    .map(({ name }) => ({ name, mesh: cameOf(name, PLAYED.mesh), page: cameOf(name, PLAYED.page) }));
}

/** What came of each recipe the last time that it passed, by its name, and on which machine and commit that was. */
type Results = Record<string, { readonly mesh: Came; readonly page: Came; readonly machine: Machine }>;

const earlier = (): Results =>
  existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as { recipes: Results }).recipes : {};

try {
  const named = process.argv.slice(2).map((name) => shipped.find(name).name);
  const machine = thisMachine();
  const came = await play(named);
  const passed = came.filter(
    ({ mesh, page }) => mesh.state === 'passed' && /^(?:passed|skipped)$/.test(page.state),
  );
  const results: Results = { ...earlier() };
  for (const { name, mesh, page } of passed) results[name] = { mesh, page, machine };
  const kept = recipes.flatMap(({ name }) => (results[name] ? [[name, results[name]]] : []));
  const record = { command: '.ci/recipes', recipes: Object.fromEntries(kept) };
  writeFileSync(RESULTS, `${JSON.stringify(record, null, 2)}\n`);
  console.log(`${passed.length} of ${came.length} recipes passed; ${RESULTS} has them.`);
  const failed = came.filter((one) => !passed.includes(one)).map(({ name }) => name);
  if (failed.length) console.error(`These did not pass: ${failed.join(', ')}.`);
  process.exit(failed.length || process.exitCode ? 1 : 0);
} catch (error) {
  fail(error);
}
