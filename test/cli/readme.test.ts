/**
 * Every command of the README is run as it stands there. What a reader fills in is filled in, and flags make the runs short. The recipe is the one
 * that stands there, too.
 */
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { installed, NODE_FLAGS } from '../../local/mesh/installation.ts';
import { INTERNALS } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-readme-'));
const running = new Set<number>();
afterAll(() => {
  // What a test that ran out of time has left.
  for (const pid of running) process.kill(-pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const readme = readFileSync('README.md', 'utf8');
/** The commands in code, by lines and by inline code. */
const commands = [
  ...new Set([
    ...[...readme.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block!.trim().split('\n')),
    ...[...readme.matchAll(/`((?:npm|npx) [^`]+)`/g)].map(([, command]) => command!),
  ]),
];

// A reader's own folder: a checkpoint, and two files of questions.
cpSync('models/words', join(folder, 'checkpoint'), { recursive: true });
const questions = readFileSync('examples/reasoning-gym/gcd.easy.jsonl', 'utf8').trim().split('\n');
writeFileSync(join(folder, 'train.jsonl'), questions.slice(0, 8).join('\n'));
writeFileSync(join(folder, 'test.jsonl'), questions.slice(8, 12).join('\n'));
writeFileSync(join(folder, 'recipe.ts'), /```ts\n([\s\S]*?)```/.exec(readme)![1]!);

/** Runs a command in the reader's folder, with `40` rounds and versions as `1`, and returns what it prints. */
async function run(command: string, ...more: string[]): Promise<string> {
  const [, words] = /^npx rollmesh (.+)$/.exec(command.replaceAll('40', '1')) ?? [];
  expect(words, command).toBeDefined();
  const args = [...NODE_FLAGS, installed('cli/rollmesh.ts'), ...words!.split(' '), ...more];
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
  expect(stdout + stderr).not.toMatch(INTERNALS);
  return stdout;
}

/** Runs `npx rollmesh start` in the clone, as a reader's first command; it has to print that. */
async function starts(says: RegExp, ...more: string[]): Promise<void> {
  const env = { ...process.env, NO_COLOR: '1' };
  const child = spawn('npm', ['start', '--', ...more], { env, detached: true });
  running.add(child.pid!);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Uint8Array) => {
      text += new TextDecoder().decode(chunk);
    });
  await new Promise((done) => child.once('close', done));
  running.delete(child.pid!);
  expect(text).not.toMatch(INTERNALS);
  expect(text).toMatch(says);
}

const short = ['--tasks-per-round', '2', '--group-size', '2', '--engine', 'kernels', '--headless'];

/** In this order, since later commands need what earlier ones made. */
const played: Readonly<Record<string, () => Promise<unknown>>> = {
  // `npm ci` was run by whoever runs this test, and CI runs it in a clean clone.
  'npm ci && npm start': () => {
    const state = ['--state', join(folder, 'state'), '--port', '0', '--rounds', '1'];
    return starts(/^watch it at [\s\S]+^1\/1 [\s\S]+^After 1 round/m, ...short, ...state);
  },
  'npx rollmesh policy import ./checkpoint --name mine': async () =>
    expect(await run('npx rollmesh policy import ./checkpoint --name mine')).toMatch(/mine/),
  'npx rollmesh policy eval mine 0 --tasks test.jsonl --checker number': async () =>
    expect(await run('npx rollmesh policy eval mine 0 --tasks test.jsonl --checker number')).toMatch(
      /mine 0 on 4 questions/,
    ),
  'npx rollmesh start --recipe grpo --policy mine --tasks train.jsonl --held-out test.jsonl --checker number --rounds 40':
    async () => {
      const [command] = commands.filter((line) => line.includes('--recipe grpo'));
      expect(await run(command!, ...short, '--port', '0')).toMatch(/^1\/1 [\s\S]+^After 1 round/m);
    },
  'npx rollmesh policy eval mine 40 --tasks test.jsonl --checker number --compare 0': async () =>
    expect(
      await run('npx rollmesh policy eval mine 40 --tasks test.jsonl --checker number --compare 0'),
    ).toMatch(/mine 1 on 4 questions/),
  'npx rollmesh policy export mine 40 ./trained': async () => {
    await run('npx rollmesh policy export mine 40 ./trained');
    await run('npx rollmesh policy import ./trained --name again');
  },
  'npx rollmesh start --recipe ./recipe.ts': async () => {
    const printed = await run(
      'npx rollmesh start --recipe ./recipe.ts',
      ...short,
      '--in-process',
      '--rounds',
      '1',
    );
    expect(printed).toMatch(/^1\/1 [\s\S]+^After 1 round/m);
  },
};
/** What other tests and CI run. */
const elsewhere: Readonly<Record<string, string>> = {
  'npm ci': '.ci/run',
  'npm ci && npm test': '.ci/run',
  'npm pack': '.ci/guest',
};

test('every command of the README is run here or elsewhere', () => {
  expect(commands.toSorted()).toEqual([...Object.keys(played), ...Object.keys(elsewhere)].toSorted());
});

test('`npx rollmesh` is the program of the clone', async () => {
  const { stdout } = await promisify(execFile)('npx', ['rollmesh', 'recipe', 'list']);
  expect(stdout).toMatch(/^trio /m);
});

test('the recipe has 25 lines, the README 7 kB and its picture 90 kB at most', () => {
  expect(readFileSync(join(folder, 'recipe.ts'), 'utf8').trim().split('\n').length).toBeLessThanOrEqual(25);
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(7000);
  const [, picture] = /!\[[^\]]+\]\(([^)]+)\)/.exec(readme)!;
  expect(readFileSync(picture!).byteLength).toBeLessThan(90_000);
});

test.each(Object.entries(played))('%s', async (_, play) => {
  await play();
});
