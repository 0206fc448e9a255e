/** What a learner sends of a version whose parent has some of its files already. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { GatewayClient } from '../../api/gateway-client.ts';
import type { Manifest, VersionFiles } from '../../core/schema/policy.ts';

const MIB = 1024 * 1024;
const entryOf = (bytes: Uint8Array = new Uint8Array()) => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  bytes: bytes.length,
});
const filled = (bytes: number, value: number) => new Uint8Array(bytes).fill(value);

/** A gateway that has version 4, whose tokenizer version 0 stores. @returns the files and the manifest that it was sent for version 5 */
async function publish(before: VersionFiles, files: VersionFiles) {
  const parent: Manifest = {
    policy: 'mine',
    version: 4,
    parent: 3,
    groups: [],
    round: null,
    settings: {},
    files: Object.fromEntries(Object.entries(before).map(([file, bytes]) => [file, entryOf(bytes)])),
  };
  parent.files['tokenizer.json'] = { ...parent.files['tokenizer.json']!, version: 0 };
  const sent: string[] = [];
  let manifest: Pick<Manifest, 'files'> | undefined;
  const client = new GatewayClient({
    url: 'http://mesh.test',
    token: 'secret',
    fetch: async (url, init) => {
      const path = new URL(String(url)).pathname;
      if (init?.method !== 'PUT') return Response.json(parent);
      if (path.includes('/files/')) {
        sent.push(path.slice(path.lastIndexOf('/') + 1));
        return Response.json({}, { status: 201 });
      }
      manifest = JSON.parse(String(init.body)) as Pick<Manifest, 'files'>;
      return Response.json({ policy: 'mine', version: 5, created: true, nextRound: null });
    },
  });
  await client.putVersion(files, {
    policy: 'mine',
    version: 5,
    parent: 4,
    groups: [],
    round: null,
    settings: {},
  });
  return { sent, files: manifest!.files };
}

const small = filled(300, 1);
const tokenizer = filled(MIB, 2);
const before: VersionFiles = {
  'config.json': small,
  'tokenizer.json': tokenizer,
  'model.safetensors': filled(2 * MIB, 3),
  'optimizer.safetensors': filled(2 * MIB, 4),
};

test('a file of a MiB is named where it is stored if the parent has the same bytes; changed and small files are sent', async () => {
  const weights = filled(2 * MIB, 5);
  const { sent, files } = await publish(before, { ...before, 'model.safetensors': weights });
  expect(sent.toSorted()).toEqual(['config.json', 'model.safetensors']);
  expect(files).toEqual({
    'config.json': entryOf(small),
    'tokenizer.json': { ...entryOf(tokenizer), version: 0 },
    'model.safetensors': entryOf(weights),
    'optimizer.safetensors': { ...entryOf(before['optimizer.safetensors']!), version: 4 },
  });
});

test('a file of less than a MiB is sent again, and weights under an adapter are not, whatever their size', async () => {
  const tiny: VersionFiles = { ...before, 'tokenizer.json': filled(MIB - 1, 2), 'model.safetensors': small };
  expect((await publish(tiny, tiny)).sent.toSorted()).toEqual([
    'config.json',
    'model.safetensors',
    'tokenizer.json',
  ]);
  const adapter = { 'main.adapter.safetensors': filled(200, 6) };
  const adapted = await publish(tiny, { ...tiny, ...adapter });
  expect(adapted.sent.toSorted()).toEqual(['config.json', 'main.adapter.safetensors', 'tokenizer.json']);
  expect(adapted.files['model.safetensors']).toEqual({ ...entryOf(small), version: 4 });
});
