/** What is in the script of each Worker, by the bundler's own list: recipes, and nothing of the lab. */

import { expect, test } from 'vitest';
import { build } from '../../local/mesh/esbuild.ts';

test.each([
  ['gateway', true],
  ['proposer', true],
  ['rollout', true],
  ['judge', true],
  ['environment', false],
])('%s holds no claim and nothing else of the lab; recipes: %s', async (worker, hasRecipes) => {
  const { metafile } = await build({
    entryPoints: [`workers/${worker}/index.ts`],
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'unwritten',
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*', '*.wasm'],
    logLevel: 'silent',
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.includes('recipes/trio/recipe.ts')).toBe(hasRecipes);
  expect(inputs.filter((input) => input.startsWith('lab/') || /claim/.test(input))).toEqual([]);
});
