import { expect, test } from 'vitest';
import { agentsHeard } from '../../../cli/start/agents-heard.ts';

const WAITS = { pollMs: 1, quietMs: 40, longestMs: 60_000 };

/** A mesh that says when agents were told last, by the time since the wait began, ms. */
function meshThat(toldAt: (ms: number) => number | null) {
  const began = performance.now();
  const since = () => performance.now() - began;
  return {
    getAgentAccess: async () => ({ run: 'r', url: '', token: '', seats: [], toldAt: toldAt(since()) }),
    since,
  };
}

test('the wait ends once no agent was told for a time, and has an end where none comes', async () => {
  const signal = new AbortController().signal;
  // Two agents come, after 20 and 50 ms: the second one is waited for.
  const two = meshThat((ms) => (ms < 20 ? null : ms < 50 ? 1 : 2));
  expect(await agentsHeard(two, 'r', signal, WAITS)).toBe(true);
  expect(two.since()).toBeGreaterThanOrEqual(90);
  const none = meshThat(() => null);
  expect(await agentsHeard(none, 'r', signal, { ...WAITS, longestMs: 100 })).toBe(false);
  expect(none.since()).toBeGreaterThanOrEqual(100);
  // One that asks without end, although it was told.
  const busy = meshThat((ms) => Math.floor(ms));
  expect(await agentsHeard(busy, 'r', signal, { ...WAITS, longestMs: 100 })).toBe(true);
});

test('Ctrl-C ends the wait', async () => {
  const stop = new AbortController();
  const mesh = meshThat(() => null);
  const waiting = agentsHeard(mesh, 'r', stop.signal, { ...WAITS, pollMs: 60_000 });
  stop.abort();
  expect(await waiting).toBe(false);
});
