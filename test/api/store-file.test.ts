/** How a file is cut into the objects that it is stored in. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { storeFile } from '../../api/store-file.ts';
import { MAX_FILE_BYTES, SHARD_BYTES } from '../../core/schema/policy.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** What is sent, by name: hash and length of the bytes. */
async function sent(source: Parameters<typeof storeFile>[0]) {
  const objects: Record<string, string> = {};
  const entry = await storeFile(source, 'optimizer.safetensors', (name, hash, bytes) => {
    expect(sha256(bytes)).toBe(hash);
    objects[name] = `${hash} ${bytes.length}`;
    return Promise.resolve();
  });
  return { entry, objects };
}

test('a file up to the limit of an object is one object, and a larger one is in shards, in memory and streamed alike', async () => {
  const bytes = new Uint8Array(MAX_FILE_BYTES + 1);
  for (let at = 0; at < bytes.length; at += 4099) bytes[at] = at % 251;
  const largest = bytes.subarray(0, MAX_FILE_BYTES);
  const one = { sha256: sha256(largest), bytes: largest.length };
  expect(await sent(largest)).toEqual({
    entry: one,
    objects: { 'optimizer.safetensors': `${one.sha256} ${one.bytes}` },
  });

  const shards = [bytes.subarray(0, SHARD_BYTES), bytes.subarray(SHARD_BYTES)].map((shard) => ({
    sha256: sha256(shard),
    bytes: shard.length,
  }));
  const expected = {
    entry: { sha256: sha256(bytes), bytes: bytes.length, shards },
    objects: {
      'optimizer.safetensors.shard-0': `${shards[0]!.sha256} ${SHARD_BYTES}`,
      'optimizer.safetensors.shard-1': `${shards[1]!.sha256} ${bytes.length - SHARD_BYTES}`,
    },
  };
  expect(await sent(bytes)).toEqual(expected);
  const read = async function* () {
    for (let at = 0; at < bytes.length; at += 7_000_003) yield bytes.subarray(at, at + 7_000_003);
  };
  expect(await sent({ bytes: bytes.length, read })).toEqual(expected);
  await expect(sent({ bytes: bytes.length + 1, read })).rejects.toThrow('ends');
  await expect(sent({ bytes: bytes.length - 1, read })).rejects.toThrow('longer');
});
