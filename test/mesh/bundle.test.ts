/** Workers that are made for a recipe from outside: what becomes part of them, and what never does. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { BundledReward } from '../../cli/rewards/reward-module.ts';
import { writeRecipe } from '../../cli/written-recipe.ts';
import { bundleWorker, bundleWorkers } from '../../local/mesh/bundle.ts';
import { installed } from '../../local/mesh/installation.ts';
import { withOnnxOnDemand } from '../../local/mesh/onnx-on-demand.ts';

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

test('in the local mesh ONNX Runtime is no compiled module of a Worker, and the kernels are', async () => {
  const sampling = withOnnxOnDemand(await bundleWorker(installed('workers/rollout/index.ts')));
  const modules = sampling.modules as { type: string; path: string; contents: string | Uint8Array }[];
  const ofType = (wanted: string) =>
    modules.filter(({ type }) => type === wanted).map(({ path }) => basename(path));
  expect(ofType('CompiledWasm').toSorted()).toEqual([
    'infer-dot.wasm',
    'infer-fused.wasm',
    'infer-plain.wasm',
    'quickjs.wasm',
  ]);
  expect(ofType('ESModule').toSorted()).toEqual(['ort-wasm-simd-threaded.wasm', 'worker.js']);
  expect(sampling.unsafeEvalBinding).toBeDefined();
  // One that samples nothing has no means to compile.
  const gateway = withOnnxOnDemand(await bundleWorker(installed('workers/gateway/index.ts')));
  expect(Object.keys(gateway).toSorted()).toEqual(['modules', 'modulesRoot']);
});

test('one module around several Workers is made once for each of them', async () => {
  const around = moduleOf(
    'around.ts',
    `import worker from 'rollmesh:worker';\nexport default { inner: worker };`,
  );
  const mains = ['one', 'two'].map((name) =>
    moduleOf(`${name}.ts`, `export default '${name}-of-this-test';`),
  );
  const codes = (await bundleWorkers(mains, around)).map(({ modules }) => String(modules[0]!.contents));
  expect(codes.map((code) => code.match(/\w+-of-this-test/g))).toEqual([
    ['one-of-this-test'],
    ['two-of-this-test'],
  ]);
  for (const code of codes) expect(code).toContain('inner');
  // What is kept of files that are not new is not used once the module around them has changed.
  for (const file of [around, ...mains]) utimesSync(file, 1, 1);
  await bundleWorkers(mains, around);
  moduleOf('around.ts', `import worker from 'rollmesh:worker';\nexport default { outer: worker };`);
  for (const { modules } of await bundleWorkers(mains, around))
    expect(String(modules[0]!.contents)).toContain('outer');
});

test('runs on different files of tasks have one bundle, with their data beside it', async () => {
  const recipe = (name: string, data: object, bundles: readonly BundledReward[] = []) =>
    writeRecipe(folder, {
      name,
      from: 'this test',
      imports: [],
      code: bundles.length ? '[data, modules]' : 'data',
      data,
      bundles,
    });
  const bundleOf = async (...recipes: string[]) => {
    const [bundle] = await bundleWorkers([{ worker: 'judge', recipes }]);
    const found = bundle!.modules.filter(({ type }) => type === 'ESModule');
    return found.map(({ path, contents }) => [basename(path), String(contents)] as const);
  };
  const quoted = { text: 'told-by-this-test "quoted" \\ one' };
  const one = await bundleOf(await recipe('one', { name: 'one', ...quoted }));
  const two = await bundleOf(
    await recipe('two', { name: 'two', ...quoted }),
    await recipe('three', { at: 3 }),
  );
  const dataOf = (text: string) => JSON.parse(JSON.parse(/^export default (.*);\n$/.exec(text)![1]!));
  expect(one.map(([name]) => name)).toEqual(['worker.js', 'recipe-data-0.js']);
  expect(dataOf(one[1]![1])).toEqual({ name: 'one', ...quoted });
  expect(two.slice(1).map(([, text]) => dataOf(text))).toEqual([{ name: 'two', ...quoted }, { at: 3 }]);
  // The file is new, and so would be read again if the bundle depended on it.
  const again = await bundleOf(await recipe('four', { at: 4 }));
  expect(again[0]).toEqual(one[0]);
  expect(one[0]![1]).not.toContain('told-by-this-test');
  // A reward of the user's lies beside its recipe, and is bundled with it.
  const text = `export default 'reward-of-this-test';`;
  const rewarded = await bundleOf(await recipe('five', { at: 5 }, [{ hash: '1', text }]));
  expect(rewarded.map(([name]) => name)).toEqual(['worker.js']);
  expect(rewarded[0]![1]).toContain('reward-of-this-test');
});
