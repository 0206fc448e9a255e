/** `recipe list --for FILE`: which recipes run on a file as it is, and what it lacks for others. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { command } from '../../../cli/recipe/command.ts';
import { recipes } from '../../../recipes/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollmesh-list-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function listed(rows: readonly object[], name = 'rows.jsonl'): Promise<Map<string, string>> {
  const path = join(folder, name);
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return printed(['--for', path]);
}

async function printed(args: readonly string[]): Promise<Map<string, string>> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await command().parseAsync(['list', '--json', ...args], { from: 'user' });
    const rows = log.mock.calls.map(([line]) => JSON.parse(String(line)) as { name: string; runs: string });
    return new Map(rows.map(({ name, runs }) => [name, runs]));
  } finally {
    log.mockRestore();
  }
}

test('every recipe is listed once, with the files it runs on or the world it needs', async () => {
  const all = await printed([]);
  expect([...all.keys()].sort()).toEqual(
    [...new Set(['grpo', 'distil', 'sft', 'dpo', 'reward-model', ...recipes.map(({ name }) => name)])].sort(),
  );
  expect(all.get('igrpo')).toBe('questions with a reference answer to each task');
  expect(all.get('dpo')).toMatch(/^files of pairs/);
  expect(all.get('azr')).toMatch(/^nothing else: it needs programs/);
  expect(all.get('spiral')).toBe('a game of several seats of yours: --world GAME');
});

test('a file of answers runs what needs answers; what needs a worked solution says so', async () => {
  const on = await listed([{ question: 'What is 3 + 4?', answer: '7' }]);
  expect(on.get('grpo')).toMatch(/^runs on /);
  expect(on.get('svs')).toMatch(/^runs on /);
  expect(on.get('fb-align')).toBe('needs a worked solution to each task');
  expect(on.get('dpo')).toMatch(/^needs pairs/);
  expect(on.has('azr')).toBe(false);
  // Those that run come first.
  const runs = [...on.values()].map((each) => each.startsWith('runs on'));
  expect(runs.lastIndexOf(true)).toBe(runs.indexOf(false) - 1);
});

test('with a solution in every line the same recipe runs, and with one line short it does not', async () => {
  const row = { question: 'What is 3 + 4?', answer: '7', solution: '3 + 4 = 7' };
  expect((await listed([row])).get('fb-align')).toMatch(/^runs on /);
  const short = await listed([row, { question: 'What is 3 + 5?', answer: '8' }]);
  expect(short.get('fb-align')).toBe('needs a worked solution to each task');
});

test('a file of pairs runs dpo and not grpo', async () => {
  const on = await listed([{ prompt: 'What is 3 + 4?', chosen: '7', rejected: '8' }]);
  expect(on.get('dpo')).toMatch(/^runs on /);
  expect(on.get('reward-model')).toMatch(/^runs on /);
  expect(on.get('grpo')).toBe('needs a reference answer to each task');
  const rated = await listed([{ prompt: 'What is 3 + 4?', completion: '8', label: false }]);
  expect(rated.get('reward-model')).toMatch(/^runs on /);
  expect(rated.get('dpo')).toMatch(/^needs pairs/);
});

test('a file that no recipe can read says once why', async () => {
  await expect(listed([{ text: 'nothing' }])).rejects.toMatchObject({ code: 'tasks.kind' });
  const error = await listed([], 'rows.md').catch((fault: Error) => fault.message);
  expect(error).toContain('rows.md');
  expect(String(error).match(/is not known/g)).toHaveLength(1);
});

test.each(recipes)('$name is played elsewhere in smaller rounds, if in others', ({ tasks, written }) => {
  expect(written?.elsewhere?.tasks ?? tasks).toBeLessThanOrEqual(tasks);
});
