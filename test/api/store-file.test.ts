/** How a file is cut into the objects that it is stored in. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { storeFile } from '../../workers/api/store-file.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** As the store's limits are to each other, and a thousandth of them. */
const OBJECT = 95_000;
const SHARD = 90_000;

/** What is sent, by name: hash and length of the bytes. */
async function sent(source: Parameters<typeof storeFile>[0]) {
  const objects: Record<string, string> = {};
  const send = (name: string, hash: string, bytes: Uint8Array) => {
    expect(sha256(bytes)).toBe(hash);
    objects[name] = `${hash} ${bytes.length}`;
    return Promise.resolve();
  };
  const limits = { object: OBJECT, shard: SHARD };
  const entry = await storeFile(source, 'optimizer.safetensors', send, limits);
  return { entry, objects };
}

test('a file up to the limit of an object is one object, and a larger one is in shards, in memory and streamed alike', async () => {
  const bytes = new Uint8Array(OBJECT + 1);
  for (let at = 0; at < bytes.length; at += 41) bytes[at] = at % 251;
  const largest = bytes.subarray(0, OBJECT);
  const one = { sha256: sha256(largest), bytes: largest.length };
  expect(await sent(largest)).toEqual({
    entry: one,
    objects: { 'optimizer.safetensors': `${one.sha256} ${one.bytes}` },
  });

  const shards = [bytes.subarray(0, SHARD), bytes.subarray(SHARD)].map((shard) => ({
    sha256: sha256(shard),
    bytes: shard.length,
  }));
  const expected = {
    entry: { sha256: sha256(bytes), bytes: bytes.length, shards },
    objects: {
      'optimizer.safetensors.shard-0': `${shards[0]!.sha256} ${SHARD}`,
      'optimizer.safetensors.shard-1': `${shards[1]!.sha256} ${bytes.length - SHARD}`,
    },
  };
  expect(await sent(bytes)).toEqual(expected);
  const read = async function* () {
    for (let at = 0; at < bytes.length; at += 7_003) yield bytes.subarray(at, at + 7_003);
  };
  expect(await sent({ bytes: bytes.length, read })).toEqual(expected);
  await expect(sent({ bytes: bytes.length + 1, read })).rejects.toThrow('ends');
  await expect(sent({ bytes: bytes.length - 1, read })).rejects.toThrow('longer');
});
