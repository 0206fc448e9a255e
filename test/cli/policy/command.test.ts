import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bornOf } from '../../../cli/process-birth.ts';
import { refuseBusy, refuseShared } from '../../../cli/shared/state-access.ts';
import { claim, lockPath, ownerOf } from '../../../cli/shared/state-lock.ts';
import { NODE_FLAGS } from '../../../local/mesh/installation.ts';
import { oracle } from '../../model/checkpoints.ts';
import { startTestMesh, type TestMesh } from './policy-mesh.ts';

/** A process takes seconds to start where the machine is busy. */

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function policy(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [...NODE_FLAGS, 'cli/rollmesh.ts', 'policy', ...args]);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, stdout, stderr })));
}

/** The names of all files below a folder. */
const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

const jsonLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('on a mesh that runs', () => {
  let mesh: TestMesh;
  beforeAll(async () => {
    mesh = await startTestMesh();
    await mesh.import('test/oracle/models/qwen3', 'qwen3');
  });
  afterAll(() => mesh.stop());

  test('score: one JSON object per line and nothing else', async () => {
    const { input_ids, token_logprobs, entropy } = oracle('qwen3').expected;
    const ids = mesh.write('ids.jsonl', input_ids.map((row) => JSON.stringify(row)).join('\n'));
    const { status, stdout, stderr } = await policy(
      'score',
      'qwen3',
      '0',
      '--ids',
      ids,
      '--state',
      mesh.state,
      '--json',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const scores = jsonLines(stdout);
    expect(scores.map((score) => Object.keys(score))).toEqual(input_ids.map(() => ['logprobs', 'entropy']));
    scores.forEach((score, i) => {
      for (const [key, reference] of [
        ['logprobs', token_logprobs[i]!],
        ['entropy', entropy[i]!],
      ] as const)
        score[key].forEach((value: number, t: number) => {
          expect(Math.abs(value - reference[t]!)).toBeLessThan(1e-4);
        });
    });
  });

  test('generate: two processes print the same', async () => {
    const ids = mesh.write('prompts.jsonl', '[5, 17, 3]\n[9]\n');
    const args = [
      'generate',
      'qwen3',
      '0',
      '--ids',
      ids,
      '--max-new',
      '6',
      '--samples',
      '2',
      '--temperature',
      '0.7',
    ];
    const runs = await Promise.all(
      [0, 1].map(() => policy(...args, '--seed', '3', '--stop', '1,2', '--state', mesh.state, '--json')),
    );
    expect(runs[0]!.status).toBe(0);
    expect(runs[1]!.stdout).toBe(runs[0]!.stdout);
    const lines = jsonLines(runs[0]!.stdout);
    expect(lines).toHaveLength(2);
    for (const { samples } of lines) {
      expect(samples).toHaveLength(2);
      for (const { ids: out, logprobs, stopped } of samples) {
        expect(logprobs).toHaveLength(out.length);
        expect(stopped).toBe([1, 2].includes(out.at(-1)));
        expect(stopped || out.length === 6).toBe(true);
      }
    }
  });

  test('a failure: status 1, one sentence on stderr, nothing on stdout', async () => {
    const ids = mesh.write('wrong.jsonl', '[1, 2]\n[1, 1000]\n');
    const [bad, missing, shipped, usage] = await Promise.all([
      policy('score', 'qwen3', '0', '--ids', ids, '--state', mesh.state),
      policy('export', 'nobody', '0', mesh.path('out'), '--state', mesh.state),
      policy('export', 'words', '0', mesh.path('out'), '--state', mesh.state),
      policy('score', 'qwen3', 'newest', '--ids', ids, '--state', mesh.state),
    ]);
    for (const { status, stdout, stderr } of [bad, missing, shipped, usage]) {
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).not.toMatch(/^ +at /m);
    }
    expect(bad.stderr).toContain('ids.line: Line 2: token 1000');
    expect(missing.stderr).toContain('policy.missing: There is no policy nobody. Expected one of: qwen3.');
    expect(missing.stderr).toContain('npx rollmesh policy import DIR --name NAME');
    // A policy that lies beside the program is named with its folder.
    expect(shipped.stderr).toContain('npx rollmesh policy import models/words --name words');
    expect(existsSync(mesh.path('out'))).toBe(false);
    expect(usage.stderr).toContain('Expected a whole number');
  });
});

describe('without a mesh', () => {
  const root = mkdtempSync(join(tmpdir(), 'rollmesh-state-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test('list reads the database of a folder where no mesh runs, and changes nothing there', async () => {
    const mesh = await startTestMesh();
    await mesh.import('test/oracle/models/qwen3', 'qwen3');
    const running = await policy('list', '--json', '--state', mesh.state);
    await mesh.rest();
    const before = filesIn(mesh.state);
    const resting = await policy('list', '--json', '--state', mesh.state);
    expect(resting).toMatchObject({ status: 0, stderr: '' });
    expect(resting.stdout).toBe(running.stdout);
    const [only, ...others] = jsonLines(resting.stdout);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ name: 'qwen3', current: 0, next: 1 });
    expect(only.versions).toMatchObject([{ version: 0, parent: null, withdrawn: null }]);
    expect(filesIn(mesh.state)).toEqual(before);
    await mesh.stop();
  });

  test('list of a folder without policies says so and makes nothing', async () => {
    const state = join(root, 'none');
    mkdirSync(state);
    const empty = await policy('list', '--json', '--state', state);
    expect(empty).toMatchObject({ status: 0, stdout: '' });
    expect(empty.stderr).toContain('There are no policies yet.');
    expect(filesIn(state)).toEqual([]);
    const missing = await policy('list', '--state', join(root, 'mistyped'));
    expect(missing).toMatchObject({ status: 1, stdout: '' });
    expect(missing.stderr).toContain('state.missing: There is no state folder');
    expect(existsSync(join(root, 'mistyped'))).toBe(false);
  });

  test('one process a folder', () => {
    const mine = claim(root)!;
    expect(claim(root)).toBeUndefined();
    expect(ownerOf(root)).toMatchObject({ pid: process.pid, url: null });
    expect(() => refuseBusy(root)).toThrowError(
      expect.objectContaining({ code: 'state.busy', kind: 'retry' }),
    );
    mine.release();
    expect(ownerOf(root)).toBeUndefined();
    refuseBusy(root);
  });

  test('a process that lives owns its folder even where its mesh does not answer', () => {
    const deaf = { pid: process.ppid, born: bornOf(process.ppid)!, url: 'http://127.0.0.1:9' };
    writeFileSync(lockPath(root), JSON.stringify(deaf));
    expect(ownerOf(root)).toEqual(deaf);
    expect(() => refuseShared(root)).toThrowError(expect.objectContaining({ code: 'state.busy' }));
    rmSync(lockPath(root));
  });

  test.each([
    ['a dead process', { pid: 2 ** 22 + 1, url: null }],
    ['a dead process that had our id', { pid: process.pid, url: null }],
    ['a stranger with the id of a dead process', { pid: process.ppid, born: 'earlier', url: 'http://x' }],
    ['something unreadable', 'half a fi'],
  ])('%s owns nothing', (_, left) => {
    writeFileSync(lockPath(root), JSON.stringify(left));
    expect(ownerOf(root)).toBeUndefined();
    expect(existsSync(lockPath(root))).toBe(false);
  });
});
