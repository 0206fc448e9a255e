/** A run of a sweep comes to the versions of the same run anywhere else, also where it was ended in its middle. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { command } from '../../../cli/sweep/command.ts';
import { checkRun, endedRun, playRun } from '../../../cli/sweep/play-run.ts';
import { sha256Hex } from '../../../core/random.ts';
import { openDevice } from '../../../learner/device/node-host.ts';
import { readStart } from '../../../local/find-start.ts';
import { readPolicyFolder } from '../../../model/policy-folder.ts';
import { shipped } from '../../../recipes/index.ts';
import { runOf } from '../../../recipes/run-order.ts';
import { referenceRun } from '../../faults/reference-run.ts';
import { startTestMesh } from '../policy/policy-mesh.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-sweep-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const ARGS = [
  '--recipe=dapo',
  '--rounds=3',
  '--tasks-per-round=2',
  '--group-size=2',
  '--eval-every=3',
  '--device=cpu',
  '--threads=1',
  '--engine=kernels',
  '--seed=4',
];
const FEW = 2;
const quiet = { started() {}, evaluatedStart() {}, round() {} };

test('a sweep over rounds plays each combination to its own last round', async () => {
  const out = join(root, 'over');
  const args = ARGS.filter((arg) => !/^--(rounds|seed)=/.test(arg));
  const told = vi.spyOn(console, 'log').mockImplementation(() => {});
  await command().parseAsync(['--over=rounds=2,1', `--out=${out}`, '--examine=1', ...args], { from: 'user' });
  told.mockRestore();
  const { results } = JSON.parse(readFileSync(join(out, 'results.json'), 'utf8'));
  expect(
    Object.fromEntries(
      results.map(({ point, rounds }: { point: string[]; rounds: number }) => [point, rounds]),
    ),
  ).toEqual({ 2: 2, 1: 1 });
});

test('the versions of the same run, whole or in two parts', async () => {
  const order = { recipe: 'dapo', seed: 4, rounds: 3, freeze: [], tasks: 2, groupSize: 2 };
  const run = runOf(shipped, { ...order, engine: 'kernels' });
  const device = await openDevice({ device: 'cpu', threads: 1 });
  const wanted = (await referenceRun(run, await readStart(run.recipe.startPolicy))).at(-1)!;
  device.close();
  const hashOf = (folder: string) => {
    const versions = join(folder, 'versions', run.settings.policy);
    // All but the last version are removed.
    expect(readdirSync(versions)).toEqual(['3']);
    return sha256Hex(new Uint8Array(readFileSync(join(versions, '3', 'model.safetensors'))));
  };

  const whole = join(root, 'whole');
  expect(await endedRun(whole, ARGS)).toBeNull();
  const played = await playRun(ARGS, whole, quiet, { examine: FEW });
  expect(hashOf(whole)).toBe(wanted['model.safetensors']);
  expect(await endedRun(whole, ARGS, FEW)).toEqual(played);
  await expect(endedRun(whole, ARGS)).rejects.toMatchObject({ code: 'sweep.other' });
  await expect(endedRun(whole, [...ARGS, '--ahead=1'], FEW)).rejects.toMatchObject({ code: 'sweep.other' });

  // To the first round, and then to its end; the records between are kept.
  const rungs = join(root, 'rungs');
  const first = await playRun(ARGS, rungs, quiet, { examine: FEW, rounds: 1, goesOn: true });
  expect(first).toMatchObject({ rounds: 1, answers: { points: expect.stringMatching(/^[01]+$/) } });
  const rest = await playRun(ARGS, rungs, quiet, { examine: FEW });
  expect(hashOf(rungs)).toBe(wanted['model.safetensors']);
  expect(rest.answers).toEqual(played.answers);
  expect(rest.summary.heldout.map(({ round }) => round)).toEqual([0, 1, 3]);
  // One that had ended and has to go on is played from its start again.
  const again = join(root, 'again');
  await playRun(ARGS, again, quiet, { examine: FEW, rounds: 1 });
  await playRun(ARGS, again, quiet, { examine: FEW });
  expect(hashOf(again)).toBe(wanted['model.safetensors']);

  const parts = join(root, 'parts');
  const ended = playRun(
    ARGS,
    parts,
    {
      ...quiet,
      round: ({ round }) => {
        if (round === 2) throw new Error('ended here');
      },
    },
    { examine: FEW },
  );
  await expect(ended).rejects.toThrow('ended here');
  expect(await endedRun(parts, ARGS)).toBeNull();
  // As where the process was killed between a version and its record: the round is played again.
  const [last] = readdirSync(join(parts, 'records')).filter((name) => /lines_2/.test(name));
  rmSync(join(parts, 'records', last!));
  const done: (number | undefined)[] = [];
  await playRun(ARGS, parts, { ...quiet, started: (start) => void done.push(start.done) }, { examine: FEW });
  expect(done).toEqual([1]);
  expect(hashOf(parts)).toBe(wanted['model.safetensors']);
});

test('what cannot be played is refused before anything is', async () => {
  await expect(checkRun(['--recipe=nobody'])).rejects.toMatchObject({ kind: 'wrong-input' });
  await expect(checkRun(['--recipe=dapo', '--set', 'optimizer.learningrate=1'])).rejects.toMatchObject({
    code: 'settings.unknown',
  });
  await expect(checkRun(['--recipe=dapo', '--serve'])).rejects.toMatchObject({ code: 'sweep.options' });
  await expect(checkRun(['--recipe=grpo', '--policy=nobody', '--tasks=nobody.jsonl'])).rejects.toMatchObject({
    kind: 'wrong-input',
  });
});

test('an imported policy is taken from the state folder, to train and to teach', async () => {
  const mesh = await startTestMesh();
  try {
    await mesh.import('models/arithmetic-verbose', 'mine', true);
    await mesh.rest();
    const args = [
      '--recipe=dapo',
      '--rounds=1',
      '--tasks-per-round=2',
      '--group-size=2',
      '--device=cpu',
      '--threads=1',
      '--engine=kernels',
    ];
    const from = [...args, '--policy=mine', `--state=${mesh.state}`];
    await checkRun(from);
    await playRun(from, join(root, 'imported'), quiet, { examine: FEW });
    const order = { recipe: 'dapo', seed: 0, rounds: 1, freeze: [], tasks: 2, groupSize: 2, policy: 'mine' };
    const run = runOf(shipped, { ...order, engine: 'kernels' });
    const device = await openDevice({ device: 'cpu', threads: 1 });
    const start = await readPolicyFolder('models/arithmetic-verbose');
    const wanted = (await referenceRun(run, start)).at(-1)!;
    device.close();
    const trained = readFileSync(join(root, 'imported', 'versions', 'mine', '1', 'model.safetensors'));
    expect(sha256Hex(new Uint8Array(trained))).toBe(wanted['model.safetensors']);

    const tasks = join(root, 'sums.jsonl');
    const sums = Array.from({ length: 12 }, (_, i) => ({ question: `${i}+1`, answer: i + 1 }));
    writeFileSync(tasks, sums.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const taught = [
      ...['--recipe=distil', '--policy=arithmetic-base', `--tasks=${tasks}`, '--held-out=0.3'],
      ...[
        '--rounds=1',
        '--tasks-per-round=2',
        '--group-size=2',
        '--device=cpu',
        '--threads=1',
        '--engine=kernels',
        `--state=${mesh.state}`,
      ],
      ...['--set', 'maxNew=26', '--set', 'teacher.policy=mine'],
    ];
    await playRun(taught, join(root, 'taught'), quiet, { examine: FEW });
    expect(existsSync(join(root, 'taught', 'versions', 'mine', '0', 'model.safetensors'))).toBe(true);

    await expect(checkRun([...args, '--policy=mnie', `--state=${mesh.state}`])).rejects.toMatchObject({
      code: 'policy.missing',
      message: expect.stringMatching(/no policy mnie.*mine.*policy import DIR/),
    });
  } finally {
    await mesh.stop();
  }
});
