/** With room in its buffers Miniflare hands workerd a configuration of the same length, and workerd takes it. */
import { Miniflare, Runtime } from 'miniflare';
import { afterEach, expect, test, vi } from 'vitest';
import { withoutRoom, withRoomyBuffers } from '../../local/mesh/faster-miniflare-start.ts';

afterEach(() => vi.restoreAllMocks());

/** Two modules of 2 and 3 MB, so that the encoder goes on growing beyond what is large. */
const OPTIONS = {
  modules: [
    {
      type: 'ESModule' as const,
      path: 'worker.mjs',
      contents: 'import a from "./a.txt"; export default { fetch: () => new Response(String(a.length)) }',
    },
    { type: 'Text' as const, path: 'a.txt', contents: 'a'.repeat(2_000_000) },
    { type: 'Text' as const, path: 'b.txt', contents: 'b'.repeat(3_000_000) },
  ],
};

test('workerd gets what it gets without room, nothing after it, and takes it', async () => {
  // Spied on before the first start with room, so that this is what comes after the cut.
  const seen = vi.spyOn(Runtime.prototype, 'updateConfig');
  const start = async () => {
    const mf = new Miniflare(OPTIONS);
    await mf.ready;
    const text = await (await mf.dispatchFetch('http://worker/')).text();
    await mf.dispose();
    return text;
  };
  expect(await start()).toBe('2000000');
  expect(await withRoomyBuffers(start)).toBe('2000000');
  expect(ArrayBuffer.name).toBe('ArrayBuffer');
  expect(new ArrayBuffer(2_000_000).byteLength).toBe(2_000_000);
  const [plain, roomy] = seen.mock.calls.map(([configuration]) => configuration);
  expect(plain!.length).toBeGreaterThan(5_000_000);
  // Not the same bytes: a port and secrets differ from start to start.
  expect(roomy!.length).toBe(plain!.length);
});

test('large buffers have room while something starts, and none afterwards', async () => {
  const during = await withRoomyBuffers(async () =>
    [1 << 20, (1 << 20) + 8].map((n) => new ArrayBuffer(n).byteLength),
  );
  expect(during).toEqual([1_048_576, 1_572_880]);
  expect(new ArrayBuffer(2_000_000).byteLength).toBe(2_000_000);
});

test('a message is cut where its header says, by hand: two segments of 1 and 2 words', () => {
  const message = Buffer.alloc(64, 7);
  // Segments less one, their words, and four bytes of padding: 16 bytes of header, 24 of segments.
  for (const [i, value] of [1, 1, 2, 0].entries()) message.writeUInt32LE(value, 4 * i);
  expect(withoutRoom(message)).toEqual(message.subarray(0, 40));
});
