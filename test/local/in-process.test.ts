/** `npx rollmesh start --in-process`, as its user calls it: from the recipe's own start, and to the bits of a run in memory. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { orderOf, type StartOptions, startCommand } from '../../cli/shared/run-options.ts';
import { runInOneProcess } from '../../cli/start/process-run.ts';
import type { RunPrinter } from '../../cli/start/run-printer.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { hashesOf, referenceRun } from '../faults/reference-run.ts';
import { openScene, temporaryFolder } from '../mesh/scene.ts';

const stateDir = temporaryFolder();
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

const silent: RunPrinter = {
  started: () => {},
  evaluatedStart: () => {},
  round: () => {},
  finished: () => {},
  notice: () => {},
  remark: () => {},
  status: () => {},
  stopped: () => {},
  waiting: () => {},
};

test('a recipe begins from the policy that it names', { timeout: 120_000 }, async () => {
  const words = [
    '--recipe=ragen',
    '--rounds=2',
    '--tasks-per-round=4',
    '--group-size=4',
    '--engine=kernels',
    '--in-process',
    '--device=cpu',
    '--threads=1',
  ];
  const options = startCommand().parse(words, { from: 'user' }).opts<StartOptions>();
  const run = runOf(shipped, orderOf(options));
  const known = await openRecipes(['ragen']);
  await runInOneProcess(options, known, stateDir, silent, { ...HELD_OUT, most: 8 });
  // The command has closed its own.
  await openDevice({ device: 'cpu', threads: 1 });
  const wanted = await referenceRun(run, await readPolicyFolder(join('models', 'grids')));
  const scene = await openScene({ stateDir });
  try {
    const name = run.settings.policy;
    for (const version of [0, 1, 2])
      expect(hashesOf(await scene.gateway.getVersion({ name, version }))).toEqual(wanted[version]);
  } finally {
    await scene.stop();
  }
});

test('a policy that is not in the store is named, with those that are', { timeout: 60_000 }, async () => {
  const words = ['--recipe=dapo', '--policy=mnie', '--in-process', '--device=cpu', '--threads=1'];
  const options = startCommand().parse(words, { from: 'user' }).opts<StartOptions>();
  const known = await openRecipes(['dapo']);
  const other = temporaryFolder();
  onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  await expect(runInOneProcess(options, known, other, silent)).rejects.toMatchObject({
    code: 'policy.missing',
    message: expect.stringMatching(/no policy mnie\. Expected one of: .*arithmetic-base/),
  });
});
