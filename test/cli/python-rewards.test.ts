/** What surrounds the interpreter of Python: the tests of a line, the code of an answer, the reward service, and what is said where nobody runs programs. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewardServer } from '../../cli/python/serve-rewards.ts';
import { expectPaidPython, type TrainingTaskOptions } from '../../cli/training-task-options.ts';
import { pythonChecker, pythonIn, pythonTests } from '../../core/checkers/python.ts';
import { standardHeaders } from '../../core/net/standard-webhook.ts';
import { type PythonRun, type PythonTests, providePython } from '../../core/sandbox/python.ts';

const SECRET = 'a-secret-of-sixteen-characters';

test('tests are those of a line, of MBPP and of HumanEval', () => {
  expect(pythonTests({ metadata: { tests: 'assert f(1)', entry: 'f' } })).toEqual({
    tests: ['assert f(1)'],
    entry: 'f',
  });
  expect(
    pythonTests({
      metadata: { test_list: ['assert a', 'assert b'], test_imports: ['import math'], test_setup_code: '' },
    }),
  ).toEqual({ tests: ['import math\nassert a', 'import math\nassert b'] });
  expect(pythonTests({ metadata: { test: 'def check(c): assert c(1)', entry_point: 'f' } })).toEqual({
    tests: ['def check(c): assert c(1)\ncheck(f)'],
    entry: 'f',
  });
  for (const metadata of [
    {},
    { tests: [] },
    { tests: [3] },
    { tests: 'x'.repeat(20_001) },
    { test_list: 'assert 1' },
  ])
    expect(() => pythonTests({ metadata })).toThrow(expect.objectContaining({ code: 'answer.reference' }));
});

test('the program is the last block of Python, or the whole text', () => {
  expect(pythonIn('So:\n```python\na = 1\n```\nor\n```py\nb = 2\n```\n```sh\nls\n```')).toBe('b = 2');
  expect(pythonIn('def f(x): return x')).toBe('def f(x): return x');
});

test('the checker says that it cannot run programs where nobody gave it an interpreter', () => {
  const check = pythonChecker.prepare({ answer: '', metadata: { tests: ['assert f(1)'] } });
  expect(check('def f(x): return x')).toEqual({ ok: false, reason: 'not-run-here' });
  const outcomes = ['passed', 'failed', 'syntax', 'refused', 'timed-out'] as const;
  const verdicts = outcomes.map((outcome) => {
    providePython(() => ({ outcome, failed: null }));
    return check('x');
  });
  expect(verdicts).toEqual([
    { ok: true, value: true },
    { ok: true, value: false },
    { ok: false, reason: 'does-not-parse' },
    { ok: false, reason: 'refused' },
    { ok: false, reason: 'timed-out' },
  ]);
  expect(check('x'.repeat(10_001))).toMatchObject({ ok: false, reason: 'too-long' });
});

test('a run whose programs nobody runs is refused, and told what does', () => {
  const asked = (more: object) => expectPaidPython({ checker: 'python', ...more } as TrainingTaskOptions);
  expect(() => asked({})).toThrow(/npx rollmesh python/);
  expect(() => asked({ reward: 'checker' })).toThrow(expect.objectContaining({ code: 'run.python' }));
  expect(asked({ reward: 'http://127.0.0.1:8790' })).toBeUndefined();
  expect(asked({ checker: 'program' })).toBeUndefined();
});

/** What programs were run, in order, and how many at once at most. */
const ran: string[] = [];
let running = 0;
let most = 0;
const OUTCOMES: Readonly<Record<string, PythonRun['outcome']>> = {
  good: 'passed',
  bad: 'failed',
  slow: 'timed-out',
  broken: 'crashed',
};
const run = async (program: string, { tests }: PythonTests): Promise<PythonRun> => {
  ran.push(`${program} on ${tests.join()}`);
  most = Math.max(most, ++running);
  await new Promise((resolve) => setImmediate(resolve));
  running--;
  if (program === 'throws') throw new Error('no process');
  return { outcome: OUTCOMES[program]!, failed: null };
};
const server = rewardServer(run, { secret: SECRET, atOnce: 2, tell: () => undefined });
let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());

async function ask(body: unknown, secret = SECRET, method = 'POST') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = standardHeaders(secret, 'one', Math.floor(Date.now() / 1000), text);
  const response = await fetch(url, { method, headers, ...(method === 'POST' ? { body: text } : {}) });
  return [response.status, await response.json()];
}
const asked = (texts: readonly string[], metadata: object = { tests: ['assert f(1)'] }) => ({
  v: 1,
  task: { messages: [], answer: '', metadata, difficulty: null },
  rollouts: texts.map((text) => ({ id: text, text, answer: null, ended: text !== 'cut off', tokens: 3 })),
});

test('each answer is paid by its verdict, once, two at a time; what came to no verdict is missing', async () => {
  expect(await ask(asked(['good', 'bad', '```python\ngood\n```', 'slow', 'broken', 'cut off']))).toEqual([
    200,
    { rewards: [1, 0, 1, null, null, 0] },
  ]);
  // The same program is run once, and a request that is sent again runs none.
  expect(ran).toEqual(['good', 'bad', 'slow', 'broken'].map((program) => `${program} on assert f(1)`));
  expect(await ask(asked(['bad', 'good']))).toEqual([200, { rewards: [0, 1] }]);
  expect(ran).toHaveLength(4);
  expect(most).toBe(2);
});

test('other requests are refused by what is wrong with them', async () => {
  expect(await ask(asked(['good']), 'another-secret-of-16')).toMatchObject([
    401,
    { error: expect.stringContaining('REWARD_SECRET') },
  ]);
  expect((await ask('{"v": 1'))[0]).toBe(400);
  expect(await ask(asked(['good'], { tests: 3 }))).toMatchObject([
    422,
    { error: expect.stringContaining('tests in Python') },
  ]);
  expect((await ask('', SECRET, 'GET'))[0]).toBe(405);
  expect((await ask('x'.repeat((4 << 20) + 1)))[0]).toBe(413);
  // A process that cannot be started is no verdict, and is asked for again.
  const before = ran.length;
  expect((await ask(asked(['throws'])))[0]).toBe(500);
  expect((await ask(asked(['throws'])))[0]).toBe(500);
  expect(ran.length - before).toBe(2);
});
