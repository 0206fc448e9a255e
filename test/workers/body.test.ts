/** Bodies of requests: what is too large is not read to its end, whatever the length header says. */
import { beforeAll, expect, test } from 'vitest';

let readBytes: (request: Request, limit: number) => Promise<Uint8Array>;
beforeAll(async () => {
  // Not by its literal name, since the Workers are compiled against other types than the tests.
  const module: string = '../../workers/gateway/body.ts';
  ({ readBytes } = (await import(module)) as { readBytes: typeof readBytes });
});

/** The status of the refusal, and how many chunks of 100 bytes were read; null = the body was taken. */
async function read(chunks: number, limit: number, headers: Record<string, string> = {}) {
  let pulled = 0;
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      if (pulled === chunks) return controller.close();
      pulled++;
      controller.enqueue(new Uint8Array(100).fill(pulled));
    },
  });
  const request = new Request('http://mesh/', {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  } as RequestInit);
  const outcome = await readBytes(request, limit).catch((error: { status: number }) => error.status);
  return { outcome, pulled };
}

test('a body of exactly the limit is read whole', async () => {
  const { outcome } = await read(3, 300);
  expect(outcome).toEqual(new Uint8Array(300).map((_, i) => 1 + Math.floor(i / 100)));
});

test('a body without a length, or with one that lies, is refused at the first chunk beyond the limit', async () => {
  for (const headers of [{}, { 'content-length': '1' }]) {
    const { outcome, pulled } = await read(10_000, 300, headers);
    expect(outcome).toBe(413);
    // One more may be fetched beforehand.
    expect(pulled).toBeLessThanOrEqual(6);
  }
});

test('a body whose length says that it is too large is not read', async () => {
  const { outcome, pulled } = await read(10_000, 300, { 'content-length': '301' });
  expect(outcome).toBe(413);
  expect(pulled).toBeLessThanOrEqual(1);
});
