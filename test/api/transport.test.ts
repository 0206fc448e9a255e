/** The learner's clients: what is tried again and what is not, and that no bytes pass which are not those asked for. */
import pRetry from 'p-retry';
import { expect, test, vi } from 'vitest';
import { RollmeshError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/random.ts';
import { AskAgain, fetchPatiently, retrying } from '../../workers/api/back-off.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';

const IMPATIENT = { attempts: 4, firstMs: 1, longestMs: 2 };

/** Answers by a script; the last one for ever. */
function scripted(...answers: (() => Response | Promise<Response>)[]) {
  let calls = 0;
  return {
    fetch: async () => answers[Math.min(calls++, answers.length - 1)]!(),
    calls: () => calls,
  };
}
const status =
  (code: number, body = '{}') =>
  () =>
    new Response(body, { status: code });
const broken = () => Promise.reject(new TypeError('fetch failed'));

test('trouble is tried again, an answer is final', async () => {
  const mended = scripted(broken, status(503), status(429), status(200));
  expect((await fetchPatiently(mended.fetch, IMPATIENT)).status).toBe(200);
  expect(mended.calls()).toBe(4);
  const refused = scripted(status(404), status(200));
  expect((await fetchPatiently(refused.fetch, IMPATIENT)).status).toBe(404);
  expect(refused.calls()).toBe(1);
});

test('after the last attempt the trouble is told', async () => {
  const down = scripted(status(500));
  expect((await fetchPatiently(down.fetch, IMPATIENT)).status).toBe(500);
  expect(down.calls()).toBe(4);
  await expect(fetchPatiently(scripted(broken).fetch, IMPATIENT)).rejects.toThrow('fetch failed');
});

/** A refusal that asks for a wait. */
const busy = (seconds: number) => new Response('', { status: 429, headers: { 'retry-after': `${seconds}` } });

test('a wait that an answer asks for holds the back-off’s own, and both are no longer than the longest', async () => {
  vi.useFakeTimers();
  try {
    for (const [backOff, seconds, least, most] of [
      [{ attempts: 2, firstMs: 1000, longestMs: 60_000 }, 5, 5000, 5000],
      [{ attempts: 2, firstMs: 1000, longestMs: 3000 }, 100, 3000, 3000],
      [{ attempts: 2, firstMs: 8000, longestMs: 60_000 }, 1, 8000, 16_000],
    ] as const) {
      const began = Date.now();
      const answered = fetchPatiently(scripted(() => busy(seconds), status(200)).fetch, backOff);
      await vi.runAllTimersAsync();
      expect((await answered).status).toBe(200);
      expect(Date.now() - began).toBeGreaterThanOrEqual(least);
      expect(Date.now() - began).toBeLessThanOrEqual(most);
    }
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ['the back-off’s', 0],
  ['an answer’s', 60],
])('a signal ends %s wait', async (_, seconds) => {
  const backOff = { attempts: 3, firstMs: seconds ? 1 : 60_000, longestMs: 60_000 };
  const began = performance.now();
  const ask = () => Promise.reject(new AskAgain(busy(seconds)));
  const signal = AbortSignal.timeout(20);
  await expect(pRetry(ask, retrying(backOff, signal))).rejects.toMatchObject({ name: 'TimeoutError' });
  // Far below the minute that was asked for.
  expect(performance.now() - began).toBeLessThan(50_000);
});

test('a TypeError that is none of the network is thrown at once', async () => {
  const wrong = scripted(() => Promise.reject(new TypeError('x is not a function')));
  await expect(fetchPatiently(wrong.fetch, IMPATIENT)).rejects.toThrow('x is not a function');
  expect(wrong.calls()).toBe(1);
});

const client = (answer: () => Response | Promise<Response>) =>
  new GatewayClient({ url: 'http://x', token: 't', fetch: async () => answer(), backOff: IMPATIENT });
const told = (work: Promise<unknown>) =>
  work.then(
    () => 'resolved',
    (error: unknown) => (error instanceof RollmeshError ? `${error.kind} ${error.code}` : String(error)),
  );

test('an object with other bytes than its message says is refused', async () => {
  const bytes = new TextEncoder().encode('object');
  const at = client(() => new Response(bytes));
  expect(await at.getObject('rounds/x', sha256Hex(bytes))).toEqual(bytes);
  expect(await told(at.getObject('rounds/x', '0'.repeat(64)))).toBe('give-up object.hash');
});

test('the gateway’s refusals keep their code and say what the caller can do', async () => {
  const refusal = (code: string) =>
    JSON.stringify({ error: { code, message: 'No.', expected: 'a thing', next: null } });
  const cases: [number, string, string][] = [
    [409, 'version.parent', 'give-up version.parent'],
    [422, 'version.files', 'wrong-input version.files'],
    [404, 'round.unknown', 'missing-version round.unknown'],
    [413, 'body.size', 'over-budget body.size'],
    [503, 'secret.missing', 'retry secret.missing'],
  ];
  for (const [code, name, expected] of cases)
    expect(await told(client(status(code, refusal(name))).report('r', {}))).toBe(expected);
  expect(await told(client(status(502, '<html>')).report('r', {}))).toBe('retry gateway.failed');
  expect(await told(client(broken).report('r', {}))).toBe('retry gateway.unreachable');
  expect(await client(status(404, refusal('policy.unknown'))).getPolicy('p')).toBeNull();
});
