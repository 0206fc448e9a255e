/**
 * The commands of these pages are run as they stand there, one after the other, in a reader's folder with the files that the pages speak of. What a
 * reader fills in is filled in, and flags at the end make runs short. A command that is new on such a page is run without a change here.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnMesh, startSharedMesh } from '../../cli/shared/state-access.ts';
import { openStateFolder } from '../../cli/shared/state-folder.ts';
import { installed, NODE_FLAGS } from '../../local/mesh/installation.ts';
import { readSecrets } from '../../local/mesh/secrets.ts';
import { INTERNALS } from '../cli/terminal.ts';
import { NIGHT } from '../night.ts';
import { commandsOf, type Documented, documented, PAGES } from './commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-pages-'));
/** The mesh that a reader leaves running after the last start: each command would begin one otherwise, which takes most of its time. */
let mesh: OwnMesh | undefined;
afterAll(async () => {
  await mesh?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const lines = (...rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n');
const questions = readFileSync('examples/reasoning-gym/gcd.easy.jsonl', 'utf8').trim().split('\n');
const said = (question: string, answer: string) => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ],
});
const sums = Array.from({ length: 30 }, (_, n) => n);
const FILES: Readonly<Record<string, string>> = {
  'train.jsonl': questions.slice(0, 8).join('\n'),
  'test.jsonl': questions.slice(8, 12).join('\n'),
  'conversations.jsonl': lines(...sums.map((n) => said(`What is ${n} + 2?`, `<answer>${n + 2}`))),
  'pairs.jsonl': lines(
    ...sums.map((n) => ({
      question: `What is ${n} + 2?`,
      chosen: `<answer>${n + 2}`,
      rejected: '<answer>0',
    })),
  ),
  'ratings.jsonl': lines(
    ...sums.map((n) => ({
      question: `What is ${n} + 2?`,
      answer: `<answer>${n + 2 + (n % 2)}`,
      label: 1 - (n % 2),
    })),
  ),
  'game.ts': /```ts\n([\s\S]*?)```/.exec(readFileSync('docs/games.md', 'utf8'))![1]!,
  'length.ts': /```ts\n([\s\S]*?)```/.exec(readFileSync('docs/tasks.md', 'utf8'))![1]!,
};
for (const [file, text] of Object.entries(FILES)) writeFileSync(join(folder, file), text);
for (const place of ['DIR', 'larger']) cpSync('models/words', join(folder, place), { recursive: true });

/** What a reader puts in place of these words. */
const FILLED: Readonly<Record<string, string>> = {
  RUN: 'last',
  ROUND: 'last',
  NAME: 'mine',
  '40': '1',
  '7': '0',
  '3-5': '1',
};
/** Flags that make a run short. One run is played in the mesh, and what the later commands read is of it; the others are played in one process. */
const shortly = (words: readonly string[]): readonly string[] => [
  ...['--rounds', '1', '--tasks-per-round', '2', '--group-size', '2', '--engine', 'kernels'],
  ...(words.includes('grpo') ? ['--headless', '--port', '0'] : ['--in-process']),
];

/** The pages whose commands are run with every check, and those in the night. */
const PLAYED = ['docs/tasks.md', 'docs/trajectories.md', 'docs/monitoring.md', 'docs/trust.md'];
const PLAYED_IN_THE_NIGHT = ['docs/nodes.md', 'docs/games.md', 'examples/reasoning-gym/README.md'];

/**
 * Commands that are not run here, by what they begin with, on one page or on any: which test runs them, or what they need that no test has. All of them are
 * parsed (commands.test.ts).
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  // Run by others.
  'README.md ': 'test/cli/readme.test.ts',
  'docs/my-own-run.md ': 'test/cli/my-own-run.test.ts',
  'docs/webhooks.md ': 'test/mesh/webhooks-page.test.ts; `gh api` needs an account',
  'docs/agents.md ': 'test/cli/agent-examples.test.ts',
  'docs/environments.md npx rollmesh environment': 'test/cli/environment-tasks.test.ts, over a stand-in',
  'docs/environments.md npx rollmesh start': 'test/api/environment-worker.test.ts, over a stand-in',
  'docs/endpoints.md ': 'test/cli/served.test.ts: a mesh that stays, and a conversation at a terminal',
  'docs/write-a-recipe.md ': '.ci/guest, in a project of its own',
  'docs/worlds.md ': '.ci/guest, in a project of its own',
  'docs/dependencies.md npm install': '.ci/guest, over the tarball',
  'CONTRIBUTING.md ': 'the checks themselves',
  'docs/start.md ': 'test/cli/readme.test.ts',
  'docs/tasks.md npx rollmesh policy import models/arithmetic-base --name small':
    'a clone’s folder: test/mesh/task-files.test.ts',
  'docs/tasks.md npx rollmesh start --recipe distil --policy small':
    'a teacher that is in no package: test/mesh/task-files.test.ts',
  'docs/tasks.md npm install': 'a package of the registry',
  'docs/tasks.md npx rollmesh python': 'a service that stays: test/cli/python-rewards.test.ts',
  'docs/tasks.md npx rollmesh start --recipe grpo --policy mine --tasks mbpp.jsonl':
    'that service, and a file of others',
  'docs/trust.md npx rollmesh dead-letters replay ID': 'test/trust/dead-letters.test.ts',
  'docs/trust.md npx rollmesh stop last': 'test/mesh/rounds.test.ts',
  'docs/trust.md curl': 'test/api, by the routes that it names',
  'docs/nodes.md ROLLMESH_NODE_TOKEN=… npx rollmesh node': 'a mesh elsewhere: test/nodes',
  'docs/nodes.md ROLLMESH_NODE_TOKEN=… npx rollmesh verify': 'a mesh elsewhere: test/trust/verify.test.ts',
  'docs/policies.md npx rollmesh policy league': 'test/cli/league.test.ts',
  // Need what no test has.
  'docs/deploy.md ':
    'an account; test/mesh/deploy-dry-run.test.ts and test/cli/deploy go as far as one can without',
  'docs/platform.md ': 'an account; test/mesh/conformance.test.ts runs the checks locally',
  'docs/server.md ': 'systemd, and an administrator; test/cli/serve.test.ts backs up and restores',
  'docs/nodes.md npm install': 'a package of the registry',
  'docs/monitoring.md tensorboard': 'a program of Python',
  'docs/monitoring.md wandb': 'an account',
};

const whole = PAGES.flatMap(documented).filter((one) => one.whole && !one.usage);
const elsewhere = ({ page, line }: Documented) =>
  Object.keys(ELSEWHERE).filter((begin) => `${page} ${line}`.startsWith(begin));

test('every command that a page has to be copied is run here, or it is said where it is', () => {
  const played = [...PLAYED, ...PLAYED_IN_THE_NIGHT];
  expect(whole.filter((one) => !played.includes(one.page) && !elsewhere(one).length)).toEqual([]);
  expect(
    Object.keys(ELSEWHERE).filter((begin) => !whole.some((one) => elsewhere(one).includes(begin))),
  ).toEqual([]);
});

async function run(words: readonly string[]): Promise<string> {
  const args = [...NODE_FLAGS, installed('cli/rollmesh.ts'), ...words];
  const env = { ...process.env, NO_COLOR: '1' };
  const ended = promisify(execFile)(process.execPath, args, { cwd: folder, env });
  // A run of two tasks may have no answer of the kind that is asked for.
  const { stdout, stderr } = await ended.catch((error: { stdout: string; stderr: string }) => {
    if (!error.stderr.includes('trajectories.none')) throw error;
    return error;
  });
  expect(stdout + stderr).not.toMatch(INTERNALS);
  return stdout + stderr;
}

/** The policies that the pages train, each imported as docs/my-own-run.md says. */
beforeAll(async () => {
  for (const name of ['mine', 'rm']) await run(['policy', 'import', 'DIR', '--name', name]);
});

/** What stands in a command of one page alone: where a reader of the others has something else. */
const FILLED_ON: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'examples/reasoning-gym/README.md': {
    'models/words': installed('models/words'),
    'examples/reasoning-gym/gcd.easy.jsonl': 'test.jsonl',
    '128': '8',
  },
};

const commands = [...PLAYED, ...(NIGHT ? PLAYED_IN_THE_NIGHT : [])].flatMap((page) =>
  whole
    .filter((one) => one.page === page && !elsewhere(one).length)
    .flatMap(({ line }) => commandsOf(line))
    .filter(([program, name]) => program === 'npx' && name === 'rollmesh')
    .map(([, , ...words]) => words.map((word) => FILLED_ON[page]?.[word] ?? FILLED[word] ?? word)),
);

const lastStart = commands.findLastIndex(([name]) => name === 'start');

test.each(commands.map((words, i) => [words.join(' '), words, i] as const))(
  'npx rollmesh %s',
  async (_, words, i) => {
    if (i > lastStart)
      mesh ??= await startSharedMesh({
        stateDir: openStateFolder(join(folder, '.rollmesh'), false),
        secrets: readSecrets(folder),
        cronMs: 0,
        port: 0,
      });
    const printed = await run(words[0] === 'start' ? [...words, ...shortly(words)] : words);
    expect(printed).not.toMatch(/\b(?:undefined|NaN|\[object Object\])/);
    if (words[0] === 'start') expect(printed).toMatch(/^1\/1 [\s\S]+^After 1 round/m);
  },
);
