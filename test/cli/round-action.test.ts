/** The GitHub Action that orders rounds: its steps as GitHub runs them, with a stand-in for `npx` and for GitHub's interface. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ACTION = resolve('.github/actions/round');
const folder = mkdtempSync(join(tmpdir(), 'rollmesh-action-'));
const comments: { url: string; authorization: string; body: string }[] = [];
let refused = false;
const github = createServer((request, answer) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { body } = JSON.parse(Buffer.concat(chunks).toString()) as { body: string };
    comments.push({ url: request.url!, authorization: request.headers.authorization!, body });
    answer.writeHead(refused ? 403 : 201).end('{}');
  });
});
beforeAll(async () => {
  await new Promise<void>((listening) => github.listen(0, '127.0.0.1', listening));
  // It prints its arguments, one a line, where the test reads them, and then what the mesh came to.
  writeFileSync(
    join(folder, 'npx'),
    `#!/bin/sh\nprintf '%s\\n' "$@" >"${folder}/asked"\ncat "${folder}/lines"\nexit $(cat "${folder}/code")\n`,
  );
  chmodSync(join(folder, 'npx'), 0o755);
});
afterAll(() => {
  github.close();
  rmSync(folder, { recursive: true, force: true });
});

const START = { kind: 'start', settings: { recipe: 'trio' }, page: 'https://mesh.example/#run=0a' };
const round = (index: number, reward: number | null, gold: number | null) => ({
  ...{ kind: 'round', round: index, from: index - 1, to: index },
  report: {
    monitors: { reward, gold },
    training: { roles: { solver: { klToStart: 0.25 }, judge: { klToStart: null } } },
  },
});

/** Runs the action's step. @returns how it ended, and the one comment that it wrote */
async function acted(lines: readonly object[], { code = 0, event = {}, options = '' } = {}) {
  writeFileSync(join(folder, 'lines'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  writeFileSync(join(folder, 'code'), `${code}`);
  writeFileSync(join(folder, 'event.json'), JSON.stringify(event));
  comments.length = 0;
  const { port } = github.address() as { port: number };
  const env = {
    ...{
      PATH: `${folder}:${process.env.PATH}`,
      ACTION,
      PACKAGE: 'rollmesh',
      MESH_URL: 'https://mesh.example',
    },
    ...{ RECIPE: 'trio', ROUNDS: '2', OPTIONS: options, WEBHOOK_SECRET: 'x', GITHUB_TOKEN: 'token' },
    ...{ GITHUB_API_URL: `http://127.0.0.1:${port}`, GITHUB_REPOSITORY: 'someone/models', GITHUB_SHA: 'abc' },
    ...{ GITHUB_EVENT_PATH: join(folder, 'event.json'), GITHUB_STEP_SUMMARY: join(folder, 'summary.md') },
  };
  // The very line of the action.
  const [, script] = /^ {6}run: (.+)$/m.exec(readFileSync(join(ACTION, 'action.yml'), 'utf8'))!;
  const child = spawn('bash', ['-c', script!], { env, stdio: 'ignore' });
  const ended = await new Promise<number | null>((done) => child.once('exit', done));
  return { ended, comment: comments[0] };
}

test('rounds are ordered and waited for, and their curve is a comment of the pull request', async () => {
  const event = { pull_request: { number: 7 } };
  const lines = [START, round(1, 0.5, 0.25), round(2, 0.75, 0.5)];
  const { ended, comment } = await acted(lines, { event, options: '--seed 7\n--reward $(id)\n' });
  expect(ended).toBe(0);
  const asked = ['--yes', 'rollmesh', 'trigger', 'https://mesh.example', '--recipe', 'trio', '--rounds', '2'];
  // Options are words, on one line or several, and nothing of them is run.
  expect(readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n')).toEqual([
    ...asked,
    ...['--wait', '--json', '--seed', '7', '--reward', '$(id)'],
  ]);
  expect(comment).toMatchObject({
    url: '/repos/someone/models/issues/7/comments',
    authorization: 'Bearer token',
  });
  expect(comment!.body).toContain('xychart-beta');
  expect(comment!.body).toContain('x-axis [1, 2]\n  line [0.500, 0.750]\n  line [0.250, 0.500]\n');
  expect(comment!.body).toContain('| 2 | 2 | 0.750 | 0.500 | 0.250 |');
  expect(comment!.body).toContain('[The run](https://mesh.example/#run=0a)');
  expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toContain('| 2 | 2 |');
});

test('a round that fails is commented on the commit, with what was said, and the step fails', async () => {
  const notice = { kind: 'notice', text: 'round 2 failed: ![x](https://evil.example) @team' };
  const { ended, comment } = await acted([START, round(1, 0.5, null), notice], { code: 1 });
  expect(ended).toBe(1);
  expect(comment!.url).toBe('/repos/someone/models/commits/abc/comments');
  expect(comment!.body).toContain('| 1 | 1 | 0.500 | – | 0.250 |');
  expect(comment!.body).toContain('round 2 failed');
  expect(comment!.body).not.toMatch(/!\[|@|```mermaid/);
});

test('the step fails where GitHub takes no comment', async () => {
  refused = true;
  expect((await acted([START, round(1, 1, 1)])).ended).toBe(1);
});

test('of a long order the comment has the last rounds, and fits into what GitHub takes', async () => {
  refused = false;
  const { ended, comment } = await acted([
    START,
    ...Array.from({ length: 2000 }, (_, i) => round(i + 1, 0.5, 0.25)),
  ]);
  expect(ended).toBe(0);
  expect(comment!.body.length).toBeLessThan(65_536);
  expect(comment!.body).toContain('### trio: 2000 rounds, of which the last 100 are shown');
  expect(comment!.body).toContain('x-axis [1901, 1902, ');
  expect(comment!.body.match(/^\| \d+ \|/gm)).toHaveLength(100);
});
