/** One live session at a time: the old one is gone before the new one is opened, and none goes while it is used. */
import { expect, test } from 'vitest';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { PolicySession, type SessionPolicy } from '../../workers/shared/policy-session.ts';

function recorded() {
  const events: string[] = [];
  const open = async (ref: PolicyRef) => {
    if (ref.version === 13) throw new Error('no such version');
    events.push(`open ${ref.version}`);
    const policy: SessionPolicy = {
      ref,
      heapBytes: 12 << 20,
      generate: async () => [],
      score: async () => [],
      dispose: async () => {
        events.push(`dispose ${ref.version}`);
      },
    };
    return policy;
  };
  return { events, session: new PolicySession(open) };
}
const ref = (version: number) => ({ name: 'p', version });
const pause = () => new Promise((resolve) => setTimeout(resolve, 1));

test('uses of one version share its session; another version replaces it', async () => {
  const { events, session } = recorded();
  const use = (version: number) =>
    session.use(ref(version), async (policy) => {
      events.push(`begin ${policy.ref.version}`);
      await pause();
      events.push(`end ${policy.ref.version}`);
    });
  await Promise.all([use(1), use(1), use(2)]);
  expect(events).toEqual([
    'open 1',
    'begin 1',
    'end 1',
    'begin 1',
    'end 1',
    'dispose 1',
    'open 2',
    'begin 2',
    'end 2',
  ]);
});

test('a version that cannot be opened and a use that fails leave the session usable', async () => {
  const { events, session } = recorded();
  await session.use(ref(1), async () => {});
  await expect(session.use(ref(13), async () => {})).rejects.toThrow('no such version');
  await expect(
    session.use(ref(1), async () => {
      throw new Error('the use failed');
    }),
  ).rejects.toThrow('the use failed');
  expect(await session.use(ref(1), async (policy) => policy.ref.version)).toBe(1);
  expect(events).toEqual(['open 1', 'dispose 1', 'open 1']);
});

test('small policies of the kernels engine stay beside others, the longest unused go, and ONNX Runtime is alone', async () => {
  const { events, session } = recorded();
  const use = (version: number, engine?: 'kernels') =>
    session.use({ ...ref(version), ...(engine ? { engine } : {}) }, async () => {});
  for (const version of [1, 2, 1, 3, 4, 2]) await use(version, 'kernels');
  expect(events).toEqual(['open 1', 'open 2', 'open 3', 'dispose 2', 'open 4', 'dispose 1', 'open 2']);
  events.length = 0;
  await use(5);
  await use(4, 'kernels');
  expect(events).toEqual(['dispose 3', 'dispose 4', 'dispose 2', 'open 5', 'dispose 5', 'open 4']);
});
