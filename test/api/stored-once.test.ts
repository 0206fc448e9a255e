/** What a learner sends of a version whose parent has some of its files already. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { roomForDeltas } from '../../core/policy/isolate-room.ts';
import type { Manifest, VersionFiles } from '../../core/schema/policy.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';

const MIB = 1024 * 1024;
const entryOf = (bytes: Uint8Array = new Uint8Array()) => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  bytes: bytes.length,
});
const filled = (bytes: number, value: number) => new Uint8Array(bytes).fill(value);

/**
 * A gateway that has version 4, whose tokenizer version 0 stores; `entries`: other files that it has by other versions. `deltas`: the files that may be
 * sent as deltas. @returns the files and the manifest that it was sent for version 5
 */
async function publish(
  before: VersionFiles,
  files: VersionFiles,
  deltas: VersionFiles = {},
  entries: Manifest['files'] = {},
) {
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
  Object.assign(parent.files, entries);
  const sent: string[] = [];
  const bodies: Record<string, Uint8Array> = {};
  let manifest: Pick<Manifest, 'files'> | undefined;
  const client = new GatewayClient({
    url: 'http://mesh.test',
    token: 'secret',
    fetch: async (url, init) => {
      const path = new URL(String(url)).pathname;
      if (init?.method !== 'PUT') return Response.json(parent);
      if (path.includes('/files/')) {
        const name = path.slice(path.lastIndexOf('/') + 1);
        sent.push(name);
        bodies[name] = new Uint8Array(init.body as Uint8Array<ArrayBuffer>);
        return Response.json({}, { status: 201 });
      }
      manifest = JSON.parse(String(init.body)) as Pick<Manifest, 'files'>;
      return Response.json({ policy: 'mine', version: 5, created: true, nextRound: null });
    },
  });
  const about = { policy: 'mine', version: 5, parent: 4, groups: [], round: null, settings: {} };
  await client.putVersion(files, about, deltas);
  return { sent, bodies, files: manifest!.files };
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

const WEIGHTS = 'model.safetensors';
const weights = filled(2 * MIB, 3);
/** The weights with every n-th number changed: n changes a delta of three bytes each, where gaps have one. */
const changedEvery = (n: number) => {
  const out = weights.slice();
  for (let at = 0; at < out.length; at += 2 * n) out[at] = 77;
  return out;
};

test('weights that may be a delta are one where it has less than 30 % of their bytes', async () => {
  // Of 2^20 numbers one in 100 is changed: 10,486 changes of 3 bytes. One in 5 takes 3/10 of the bytes, and one in 6 a quarter.
  const few = changedEvery(100);
  const { sent, bodies, files } = await publish(
    before,
    { ...before, [WEIGHTS]: few },
    { [WEIGHTS]: weights },
  );
  expect(sent.toSorted()).toEqual(['config.json', `${WEIGHTS}.delta-0`]);
  const delta = bodies[`${WEIGHTS}.delta-0`]!;
  expect(delta.length).toBe(88 + 3 * 10_486);
  expect(files[WEIGHTS]).toEqual({
    ...entryOf(few),
    replay: {
      anchor: { ...entryOf(weights), version: 4 },
      deltas: [{ ...entryOf(delta), result: entryOf(few).sha256 }],
    },
  });
  const sentOf = async (result: Uint8Array, base = weights) =>
    (await publish(before, { ...before, [WEIGHTS]: result }, { [WEIGHTS]: base })).sent.at(-1);
  expect(await sentOf(changedEvery(5))).toBe(WEIGHTS);
  expect(await sentOf(changedEvery(6))).toBe(`${WEIGHTS}.delta-0`);
  // Files that are not named are never sent as deltas, and what is in memory must be what the parent has.
  expect((await publish(before, { ...before, [WEIGHTS]: few })).sent).toContain(WEIGHTS);
  expect(await sentOf(few, changedEvery(50))).toBe(WEIGHTS);
});

test('an isolate that has room for weights has room for their deltas, and so has the gateway', () => {
  // A file of F MiB of bf16 weights is held as 2F in float32, F/2 in eight bits and F/4 in four; an isolate has room for 100 MiB.
  for (const [file, room] of [
    [2, 2],
    [33, 33],
    [40, 20],
    [50, 0],
    [60, 60],
    [80, 60],
    [190, 5],
    [300, 25],
    [1000, 64],
  ] as const)
    expect([file, roomForDeltas(file * MIB) / MIB]).toEqual([file, room]);
});

test('a delta goes on from those of the parent, up to sixteen and up to the size of the file', async () => {
  const few = changedEvery(100);
  const chain = (count: number, bytes: number) => ({
    [WEIGHTS]: {
      ...entryOf(weights),
      replay: {
        anchor: { sha256: 'a'.repeat(64), bytes: weights.length, version: 1 },
        deltas: Array.from({ length: count }, (_, i) => ({
          sha256: String(i % 10).repeat(64),
          bytes,
          // The last is the parent's own.
          ...(i + 1 === count ? { result: entryOf(weights).sha256 } : { version: 2, result: 'b'.repeat(64) }),
        })),
      },
    },
  });
  const onto = (entries: Manifest['files'], result = few) =>
    publish(before, { ...before, [WEIGHTS]: result }, { [WEIGHTS]: weights }, entries);
  const third = await onto(chain(2, 1000));
  expect(third.sent.at(-1)).toBe(`${WEIGHTS}.delta-2`);
  expect(third.files[WEIGHTS]!.replay!.anchor).toMatchObject({ version: 1 });
  expect(third.files[WEIGHTS]!.replay!.deltas.map(({ version }) => version)).toEqual([2, 4, undefined]);
  expect((await onto(chain(15, 1000))).sent.at(-1)).toBe(`${WEIGHTS}.delta-15`);
  expect((await onto(chain(16, 1000))).sent.at(-1)).toBe(WEIGHTS);
  expect((await onto(chain(4, 515_000))).sent.at(-1)).toBe(`${WEIGHTS}.delta-4`);
  expect((await onto(chain(4, 520_000))).sent.at(-1)).toBe(WEIGHTS);
  // The parent's own bytes are named where they are.
  const unchanged = await onto(chain(2, 1000), weights);
  expect(unchanged.sent.toSorted()).toEqual(['config.json']);
  expect(unchanged.files[WEIGHTS]!.replay!.deltas.map(({ version }) => version)).toEqual([2, 4]);
});
