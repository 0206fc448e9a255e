/** Workers that are made for a recipe from outside: what becomes part of them, and what never does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bundleWorker } from '../../mesh/bundle.ts';
import { installed } from '../../mesh/installation.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-bundle-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function moduleOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const RECIPE = `
  import { defineRecipe } from 'rollmesh';
  import { recipes } from 'rollmesh/recipes';
  export default defineRecipe({ ...recipes[0], name: 'made-for-this-test', learn: () => ({
    updates: [{ set: 'main', parts: [{ kind: 'policy', objective: { kind: 'module', module: './own.ts' } }] }],
  }) });`;

test('a generated Worker has the recipe, one copy of the project, and nothing of the objective beside it', async () => {
  const file = moduleOf('recipe.ts', RECIPE);
  moduleOf('own.ts', `import { tf } from 'rollmesh/learner';\nexport default () => tf.scalar(0);`);
  const { modules } = await bundleWorker({ worker: 'rollout', recipes: [file] });
  const code = String(modules[0]!.contents);
  expect(code).toContain('made-for-this-test');
  expect(code.match(/class RollmeshError\b/g) ?? code.match(/RollmeshError = class/g)).toHaveLength(1);
  expect(code).not.toContain('tfjs');
  // The script, ONNX Runtime and the builds of the generation kernels.
  const [script, ...others] = modules.map(({ type }) => type);
  expect(script).toBe('ESModule');
  expect(new Set(others)).toEqual(new Set(['CompiledWasm']));
});

test.each(['rollmesh/learner', 'rollmesh/testing', '@tensorflow/tfjs-core'])(
  'a recipe that imports %s cannot be part of a Worker',
  async (name) => {
    const file = moduleOf('heavy.ts', `import * as all from '${name}';\nexport default all;`);
    await expect(bundleWorker({ worker: 'judge', recipes: [file] })).rejects.toMatchObject({
      kind: 'wrong-input',
      code: 'worker.bundle',
      message: expect.stringMatching(new RegExp(`${name} cannot be part of a Worker.*heavy\\.ts:1`)),
    });
  },
);

test('the guest’s own entry points are Workers as well', async () => {
  const { modules } = await bundleWorker(installed('examples/guest/workers/gateway.ts'));
  expect(String(modules[0]!.contents)).toContain('three-operators');
});
