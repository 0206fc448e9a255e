/** `npx rollmesh start --in-process`, as its user calls it: from the recipe's own start, and to the bits of a run in memory. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { command as compare } from '../../cli/compare/command.ts';
import { openRecipes } from '../../cli/recipe-modules.ts';
import { orderOf, type StartOptions, startCommand } from '../../cli/shared/run-options.ts';
import { openStateFolder } from '../../cli/shared/state-folder.ts';
import { runInOneProcess } from '../../cli/start/process-run.ts';
import type { RunPrinter } from '../../cli/start/run-printer.ts';
import { HELD_OUT } from '../../core/recipe/split.ts';
import { runIdOf } from '../../core/schema/round.ts';
import { openDevice } from '../../learner/device/node-host.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { hashesOf, referenceRun } from '../faults/reference-run.ts';
import { openScene, temporaryFolder } from '../mesh/scene.ts';

const stateDir = openStateFolder(temporaryFolder(), false);
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

const played = (seed: number) => {
  const words = [
    '--recipe=ragen',
    '--rounds=2',
    '--tasks-per-round=4',
    '--group-size=4',
    '--engine=kernels',
    '--in-process',
    '--device=cpu',
    '--threads=1',
    `--seed=${seed}`,
  ];
  return startCommand().parse(words, { from: 'user' }).opts<StartOptions>();
};
const play = async (seed: number, state: string) =>
  runInOneProcess(played(seed), await openRecipes(['ragen']), state, silent, { ...HELD_OUT, most: 8 });

beforeAll(() => play(1, stateDir));

/** What `rollmesh compare` prints, one object. */
async function compared(...args: readonly string[]) {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await compare().parseAsync([...args, '--json'], { from: 'user' });
    return JSON.parse(String(printed.mock.calls[0]![0]));
  } finally {
    printed.mockRestore();
  }
}

test('runs of equal seeds have the same bytes, of different seeds other ones', async () => {
  const other = openStateFolder(temporaryFolder(), false);
  onTestFinished(() => rmSync(other, { recursive: true, force: true }));
  await play(1, other);
  await play(2, other);
  const [one, two] = [1, 2].map((seed) => runIdOf(runOf(shipped, orderOf(played(seed))).settings));
  const equal = await compared(one!, one!, '--state', stateDir, '--other-state', other);
  expect(equal.bytes).toEqual([0, 1, 2].map((round) => ({ round, versions: [round, round], same: true })));
  expect(equal.tokens).toMatchObject({ verdict: 'few', p: 1, versions: [{ round: 2 }, { round: 2 }] });
  expect(equal.tokens.versions[0]).toEqual(equal.tokens.versions[1]);
  const unlike = await compared(one!, 'last', '--state', other);
  expect(unlike.runs.map(({ id }: { id: string }) => id)).toEqual([one, two]);
  expect(unlike.bytes.map(({ same }: { same: boolean }) => same)).toEqual([true, false, false]);
  await expect(compared(two!, 'last', '--state', other)).rejects.toMatchObject({ code: 'compare.same' });
});

// Its mesh removes the folder at its end.
test('a recipe begins from the policy that it names', async () => {
  const run = runOf(shipped, orderOf(played(1)));
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

test('a policy that is not in the store is named, with those that are', async () => {
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
