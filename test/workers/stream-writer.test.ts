/** A streamed answer never waits for its reader, and a reader that stands still costs memory up to a bound alone. */
import { expect, test } from 'vitest';
import { StreamWriter } from '../../workers/rollout/serving/stream-writer.ts';

test('a reader that stands still does not hold up whoever writes, and loses nothing', async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = new StreamWriter(writable);
  for (let i = 0; i < 100; i++) expect(await writer.tell(`${i} `)).toBe(true);
  const closed = writer.close();
  const text = await new Response(readable).text();
  await closed;
  expect(text).toBe(Array.from({ length: 100 }, (_, i) => `${i} `).join(''));
});

test('a reader that falls too far behind is given up', async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = new StreamWriter(writable, 100);
  const chunk = 'x'.repeat(30);
  expect([await writer.tell(chunk), await writer.tell(chunk), await writer.tell(chunk)]).toEqual([
    true,
    true,
    true,
  ]);
  expect(await writer.tell(chunk)).toBe(false);
  expect(await writer.tell('x')).toBe(false);
  await writer.close();
  await expect(new Response(readable).text()).rejects.toThrow('keep up');
});

test('a reader that goes away is noticed', async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = new StreamWriter(writable);
  expect(await writer.tell('one')).toBe(true);
  await readable.cancel();
  expect(await writer.tell('two')).toBe(false);
  await writer.close();
});
