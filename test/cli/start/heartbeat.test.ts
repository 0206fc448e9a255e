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
    remark: () => {},
  };
  return { heartbeat: openHeartbeat(printer, ...since), notices };
}

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

test('says what is waited for every twenty seconds, and only while nothing else is printed', async () => {
  const { heartbeat, notices } = open();
  heartbeat.waitFor(() => 'a round');
  await pass(19);
  expect(notices).toEqual([]);
  await pass(2);
  expect(notices).toEqual(['waiting for a round (for 20 s now)']);
  await pass(20);
  expect(notices).toEqual(['waiting for a round (for 20 s now)', 'waiting for a round (for 40 s now)']);
  // What is printed in between is a sign of life.
  for (let i = 0; i < 10; i++) {
    heartbeat.printer.notice('something');
    await pass(15);
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
  await pass(12);
  heartbeat.waitFor(() => 'a round');
  await pass(9);
  expect(notices).toEqual(['waiting for a round (for 8 s now)']);
  heartbeat.stop();

  const late = open(performance.now() - 25_000);
  late.heartbeat.waitFor(() => 'the mesh');
  await pass(1);
  expect(late.notices).toEqual(['waiting for the mesh (for 1 s now)']);
  late.heartbeat.stop();
});

test('says so where the mesh does not answer, or fails to', async () => {
  const { heartbeat, notices } = open();
  heartbeat.waitFor(() => new Promise(() => {}));
  await pass(24);
  expect(notices).toEqual(['waiting for an answer of the mesh (for 22 s now)']);
  heartbeat.waitFor(() => Promise.reject(new Error('away')));
  await pass(24);
  expect(notices.at(-1)).toMatch(/^waiting for an answer of the mesh \(for 1\d s now\)$/);
  heartbeat.stop();
});

test('names the round, its stage and how far it is', () => {
  const at = (state: 'proposing' | 'rollout' | 'training' | 'done' | 'failed') =>
    waitingFor({ index: 3, state, expected: 24, groups: { scored: 5, failed: 1, trained: 0 } }, 8);
  expect(waitingFor(undefined, 8)).toBe('its first round to begin');
  expect(at('proposing')).toBe('the tasks of round 3 of 8');
  expect(at('rollout')).toBe('the rollouts of round 3 of 8: 6 of 24 groups are judged');
  expect(at('training')).toBe('the learner to train round 3 of 8: 5 groups are scored');
  expect(at('done')).toContain('round 3 of 8, which is done');
  expect(at('failed')).toContain('round 3 of 8, which failed');
});
