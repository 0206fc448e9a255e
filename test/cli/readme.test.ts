/**
 * Every command of the README is run as it stands there. What a reader fills in is filled in, and flags make the runs short. As in a reader's second
 * terminal, the commands that look at a mesh find the one that a command in the first goes on with.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
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

const questions = join(folder, 'questions.jsonl');
writeFileSync(
  questions,
  readFileSync('examples/reasoning-gym/gcd.easy.jsonl', 'utf8').split('\n').slice(0, 8).join('\n'),
);
const state = ['--state', join(folder, 'state')];
// The kernels sample the short runs in a quarter of the time.
const local = ['--port', '0', '--engine', 'kernels', ...state];

interface Printed {
  readonly code: number | null;
  readonly text: string;
}

const end = (pid: number) => process.kill(-pid, 'SIGTERM');

/** Runs a command as a shell does. `until`: `then` is done, which ends it as a service manager would, when it has printed that. */
async function run(
  command: string,
  more: readonly string[] = [],
  until?: RegExp,
  then: (pid: number) => void = end,
): Promise<Printed> {
  // npm passes on what stands after `--`.
  const words = command.split(' ');
  const all = [...words.slice(1), ...(more.length && !words.includes('--') ? ['--'] : []), ...more];
  const child = spawn(words[0]!, all, { env: { ...process.env, NO_COLOR: '1' }, detached: true });
  running.add(child.pid!);
  let text = '';
  let hasPrinted = false;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Uint8Array) => {
      text += new TextDecoder().decode(chunk);
      if (hasPrinted || !until?.test(text)) return;
      hasPrinted = true;
      then(child.pid!);
    });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  running.delete(child.pid!);
  expect(text).not.toMatch(INTERNALS);
  return { code, text };
}

async function succeeds(command: string, more: readonly string[], says: RegExp): Promise<string> {
  const { code, text } = await run(command, more);
  expect(text).toMatch(says);
  expect(code).toBe(0);
  return text;
}

/** Runs a command that goes on for long until it has printed that. */
async function begins(command: string, more: readonly string[], says: RegExp): Promise<void> {
  expect((await run(command, more, says)).text).toMatch(says);
}

/** Ends the command that goes on in the first terminal. */
let endStanding = async () => {};
/** Runs a command that goes on until `endStanding` is called; resolves when it has printed that. */
async function stands(command: string, more: readonly string[], says: RegExp): Promise<void> {
  let ended: Promise<Printed> | undefined;
  const pid = await new Promise<number | undefined>((resolve) => {
    ended = run(command, more, says, resolve);
    void ended.finally(() => resolve(undefined));
  });
  if (pid === undefined) expect((await ended!).text).toMatch(says);
  endStanding = async () => {
    end(pid!);
    await ended;
  };
}

const sizes = (rounds: string) => [
  ...['--rounds', rounds, '--tasks', '2', '--group-size', '2', '--headless'],
  ...local,
];
/** The policy that `npm start` has trained. */
let trained = '';

/** In this order, since later commands need what earlier ones made. */
const played: Readonly<Record<string, () => Promise<unknown>>> = {
  // `npm ci` was run by whoever runs this test, and CI runs it in a clean clone.
  'npm ci && npm start': async () => {
    const text = await succeeds('npm start', sizes('1'), /^watch it at [\s\S]+^1\/1 [\s\S]+^After 1 round/m);
    trained = /^trio trains (\S+): 1 round of 2 tasks/m.exec(text)![1]!;
  },
  // Its agents are waited for, so that it does nothing but stand in the first terminal.
  'npm start -- --recipe grpo --policy NAME --tasks FILE.jsonl --agent': () =>
    stands(
      `npm start -- --recipe grpo --policy words --agent --tasks ${questions}`,
      local,
      /agents hold the episodes of this run: http:\/\/127\.0\.0\.1:\d+\/agents\/runs\/[0-9a-f]{32}/,
    ),
  'npm run audit -- ROUND': () => succeeds('npm run audit -- last', state, /^Nothing differs\.$/m),
  'npm run verify -- NAME@N': () =>
    succeeds(`npm run verify -- ${trained}@1`, state, /^1 of 1 version has the committed bytes\.$/m),
  'npm run policy -- import DIR --name NAME': async () => {
    await succeeds('npm run policy -- import models/words --name mine', state, /^mine 0: \d+ bytes$/m);
    await endStanding();
  },
  'npm start -- --recipe grpo --policy NAME --tasks FILE.jsonl': () =>
    begins(
      `npm start -- --recipe grpo --policy mine --tasks ${questions}`,
      local,
      /trains mine[\s\S]+watch it at/,
    ),
  'npm run recipe -- show tango': () =>
    succeeds('npm run recipe -- show tango', [], /^Differences from the paper$/m),
  'npm run rollmesh -- init ../my-run': () =>
    succeeds(
      `npm run rollmesh -- init ${join(folder, 'my-run')}`,
      [],
      /^Next: npm pack --pack-destination \S+my-run && cd \S+my-run && npm install/m,
    ),
  'npm run claims -- trio': () =>
    begins('npm run claims -- trio', state, /^trio: 7 arms, 48 runs of 40 rounds.* about \d+ minutes/m),
  'npm run deploy -- --dry-run': () =>
    succeeds('npm run deploy -- --dry-run', [], /^The plan:\n {2}1\. create the D1 database rollmesh$/m),
};
/** What other tests run, or nobody may here: a deployment needs an account, and the pages are in the repository. */
const elsewhere: Readonly<Record<string, string>> = {
  'npm start': 'it is run above',
  'npm ci': '.ci/run',
  'npm start -- --nodes 2': 'test/browser/start-nodes.test.ts',
  'npm start -- --recipe tango': 'test/cli/start-command.test.ts',
  'npm run claims -- --page': 'test/cli/claims/files.test.ts',
  'npm run deploy': 'test/cli/deploy/deploy.test.ts',
};

test('every command of the README is run here or in another test', () => {
  expect(commands.toSorted()).toEqual([...Object.keys(played), ...Object.keys(elsewhere)].toSorted());
});

test.each(Object.entries(played))('%s', { timeout: 180_000 }, async (_, play) => {
  await play();
});
