/** What the terminal says while nothing happens. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openHeartbeat, waitingFor } from '../../../cli/start/heartbeat.ts';
import type { RunPrinter } from '../../../cli/start/run-printer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function open(...since: number[]) {
  const notices: string[] = [];
  const nothing = () => {};
  const printer: RunPrinter = {
    started: nothing,
    evaluatedStart: nothing,
    round: nothing,
    finished: nothing,
    stopped: nothing,
    waiting: nothing,
    status: nothing,
    notice: (text) => notices.push(text),
    remark: (text) => notices.push(text),
  };
  return { heartbeat: openHeartbeat(printer, ...since), notices };
}

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

test('says what is waited for every ten seconds, and only while nothing else is printed', async () => {
  const { heartbeat, notices } = open();
  heartbeat.waitFor(() => 'a round');
  await pass(9);
  expect(notices).toEqual([]);
  await pass(2);
  expect(notices).toEqual(['a round … 10 s']);
  await pass(10);
  expect(notices).toEqual(['a round … 10 s', 'a round … 20 s']);
  // What is printed in between is a sign of life.
  for (let i = 0; i < 10; i++) {
    heartbeat.printer.notice('something');
    await pass(7);
  }
  expect(notices.filter((notice) => notice !== 'something')).toHaveLength(2);
  heartbeat.waitFor(null);
  await pass(600);
  expect(notices.filter((notice) => notice !== 'something')).toHaveLength(2);
  heartbeat.stop();
});

test('two waits in a row are one silence, and so is the time before the first', async () => {
  const { heartbeat, notices } = open();
  heartbeat.waitFor(() => 'the mesh');
  await pass(7);
  heartbeat.waitFor(() => 'a round');
  await pass(4);
  expect(notices).toEqual(['a round … 3 s']);
  heartbeat.stop();

  const late = open(performance.now() - 25_000);
  late.heartbeat.waitFor(() => 'the mesh');
  await pass(1);
  expect(late.notices).toEqual(['the mesh … 1 s']);
  late.heartbeat.stop();
});

test('says so where the mesh does not answer, or fails to', async () => {
  const { heartbeat, notices } = open();
  heartbeat.waitFor(() => new Promise(() => {}));
  await pass(14);
  expect(notices).toEqual(['the mesh is busy and does not answer … 12 s']);
  heartbeat.waitFor(() => Promise.reject(new Error('away')));
  await pass(14);
  expect(notices.at(-1)).toMatch(/^the mesh is busy and does not answer … \d+ s$/);
  heartbeat.stop();
});

test('names the round, its stage and how far it is', () => {
  const at = (state: 'proposing' | 'rollout' | 'training' | 'done' | 'failed') =>
    waitingFor({ index: 3, state, expected: 24, groups: { scored: 5, failed: 1, trained: 0 } }, 8);
  expect(waitingFor(undefined, 8)).toBe('beginning the first round');
  expect(at('proposing')).toBe('round 3 of 8: proposing tasks');
  expect(at('rollout')).toBe('round 3 of 8: 6 of 24 groups judged');
  expect(at('training')).toBe('round 3 of 8: training on 5 groups');
  expect(at('done')).toBe('round 3 of 8 trained on 0 groups: evaluating the new version');
  expect(at('failed')).toBe('round 3 of 8 failed: beginning the next one');
});
