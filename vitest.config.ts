import './cli/install/require-node.mjs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

/** Folders whose tests start no Workers, no browser and no other process: a minute at most, for the inner loop of a change. */
const UNIT = ['core', 'learner/losses', 'model', 'protocols', 'recipes', 'web', 'workers', 'worlds'];
const unit = UNIT.map((folder) => `test/${folder}/**/*.test.ts`);
/** Tests of commands' parts, which change nothing of their process that others see: they share their imports as well. */
const PARTS = [
  'test/{api,bench}/**/*.test.ts',
  'test/cli/{deploy,recipe,start,sweep,trajectories}/**/*.test.ts',
  'test/cli/{curves,doors,follow-run,large-tasks,learner-watch,mesh-watch,rewards,runs,task-recipe,terminal-text}.test.ts',
];

/** Tests that change their process for good: by a module in another's place, a driver for graphics, a flag or a clock. */
const ALONE = [
  'test/{recipes/gold-audit,workers/share-out}.test.ts',
  'test/cli/doctor.test.ts',
  'test/infer/distribution.test.ts',
  'test/infer/kernels/{bits,shared-weights}.test.ts',
  'test/learner/{device-trial,engine-webgpu,gpu-features,pair-gradients}.test.ts',
  'test/mesh/{faster-miniflare-start,v8-flags}.test.ts',
  'test/nodes/close.test.ts',
  'test/local/{tab-pages-elsewhere,webgpu-round}.test.ts',
  'test/trust/{paused-and-repeated,verify}.test.ts',
];

/** Tests of processes, browsers and meshes get a second try on a machine that may stand still for seconds; what needed it is named at the end. */
const AGAIN = { retry: 1 };

const DRAWS = './test/same-draws.ts';

/**
 * What V8 executes of a WebAssembly function before its optimising compiler comes to it, 15 times the default. The tests run for seconds: of a policy that ONNX
 * Runtime samples, that compiler takes more than half of the processor time, in every process, browser and workerd again. `infer/kernels/bits` has it compile at once.
 */
const WASM = '--wasm-tiering-budget=200000000';

export default defineConfig({
  // Modules of examples/ name the package, as those of its users do.
  resolve: { alias: [{ find: /^rollmesh$/, replacement: resolve('sdk.ts') }] },
  test: {
    reporters: ['default', './test/summary.ts'],
    // For every test: a busy machine must not fail a run, and a test that hangs ends all the same.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    fileParallelism: true,
    // One more than the cores of a small machine: with two, the tests kept 1.4 of two cores busy, since those of processes and meshes wait.
    // With four they take no less time, and each alone takes longer.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // The meshes of tests live for seconds. Collections of the whole heap, which keep a mesh of many rounds small (local/mesh/v8-flags.ts), take
    // more than half of the processor time of a round that opens sessions of ONNX Runtime.
    env: {
      MINIFLARE_WORKERD_V8_FLAGS: `--no-gc-global --min-semi-space-size=8 ${WASM}`,
      CHROMIUM_FLAGS: `--js-flags=${WASM}`,
      // The processes that tests start set the flag by a module.
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(resolve('test/wasm-tiering.cjs'))}`,
    },
    // Two threads that help each worker's collector take more of the two cores than they save.
    execArgv: [WASM, '--single-threaded-gc'],
    // What Vite makes of a module is kept by the bytes of its source, for every project of this run and for the next one.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest-modules' },
    projects: [
      // These change nothing that other files see, so the files of a worker share their imports and their process, which take a second of each.
      {
        extends: true,
        test: { name: 'unit', include: unit, exclude: ALONE, setupFiles: DRAWS, isolate: false },
      },
      { extends: true, test: { name: 'parts', include: PARTS, setupFiles: DRAWS, isolate: false } },
      {
        extends: true,
        test: {
          name: 'mesh',
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...PARTS, ...ALONE],
          setupFiles: [DRAWS, './test/left-nothing.ts'],
          ...AGAIN,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, setupFiles: DRAWS, ...AGAIN } },
    ],
  },
});
