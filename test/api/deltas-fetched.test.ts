/** How the learner and the commands fetch a file that is made by deltas, and that they name an object that is not as it was committed. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { writeDelta } from '../../core/policy/delta.ts';
import type { Manifest } from '../../core/schema/policy.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';

const FILE = 'model.safetensors';
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const of = (bytes: Uint8Array) => ({ sha256: sha256(bytes), bytes: bytes.length });
const weights = ['weights!', 'weigh7s!', 'w3igh7s!'].map((text) => new TextEncoder().encode(text));
const deltas = weights.slice(1).map((bytes, i) => {
  const base = weights[i]!;
  return writeDelta({ bytes: base, sha256: sha256(base) }, { bytes, sha256: sha256(bytes) }, 1000)!;
});
const manifest: Manifest = {
  policy: 'mine',
  version: 3,
  parent: 2,
  groups: [],
  round: null,
  settings: {},
  files: {
    [FILE]: {
      ...of(weights[2]!),
      replay: {
        anchor: { ...of(weights[0]!), version: 1 },
        deltas: [
          { ...of(deltas[0]!), version: 2, result: sha256(weights[1]!) },
          { ...of(deltas[1]!), result: sha256(weights[2]!) },
        ],
      },
    },
  },
};
const stored = {
  'mine/3/manifest.json': new TextEncoder().encode(JSON.stringify(manifest)),
  [`mine/1/${FILE}`]: weights[0]!,
  [`mine/2/${FILE}.delta-0`]: deltas[0]!,
  [`mine/3/${FILE}.delta-1`]: deltas[1]!,
};
const fetchedFrom = (objects: Readonly<Record<string, Uint8Array>>) =>
  new GatewayClient({
    url: 'http://mesh.test',
    token: 'secret',
    fetch: async (url) => {
      const key = new URL(String(url)).pathname.slice('/api/objects/policies/'.length);
      return new Response(objects[key]!.slice());
    },
  })
    .getVersion({ name: 'mine', version: 3 })
    .then(
      (files) => files[FILE],
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    );

test('the anchor and the deltas come from the versions that store them', async () => {
  expect(await fetchedFrom(stored)).toEqual(weights[2]);
});

test('a delta that is torn or swapped is named by its key, and so is another anchor', async () => {
  for (const bytes of [deltas[0]!.slice(1), deltas[1]!])
    expect(await fetchedFrom({ ...stored, [`mine/2/${FILE}.delta-0`]: bytes })).toMatch(
      `object.hash: The object policies/mine/2/${FILE}.delta-0 has other bytes`,
    );
  expect(await fetchedFrom({ ...stored, [`mine/1/${FILE}`]: weights[1]! })).toMatch(
    `object.hash: The object policies/mine/1/${FILE} has other bytes`,
  );
});

test('a manifest by which the deltas make another file is refused', async () => {
  const entry = manifest.files[FILE]!;
  const [first, second] = entry.replay!.deltas;
  const reordered = {
    ...manifest,
    files: {
      [FILE]: {
        ...entry,
        replay: {
          ...entry.replay!,
          deltas: [
            { ...second!, version: 3, result: sha256(weights[1]!) },
            { ...first!, version: 2, result: entry.sha256 },
          ],
        },
      },
    },
  };
  expect(
    await fetchedFrom({
      ...stored,
      'mine/3/manifest.json': new TextEncoder().encode(JSON.stringify(reordered)),
      [`mine/3/${FILE}.delta-0`]: deltas[1]!,
      [`mine/2/${FILE}.delta-1`]: deltas[0]!,
    }),
  ).toMatch(/^delta\.order: Delta 1 of model\.safetensors came in the place of delta 0/);
});
