/** Deltas: the format by hand-made bytes, what is refused, and that a replay gives the file back whatever it is and however it is cut. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { rebuilt, writeDelta } from '../../core/policy/delta.ts';
import { fileEntry, type Replay } from '../../core/schema/policy.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const fileOf = (bytes: Uint8Array) => ({ bytes, sha256: sha256(bytes) });
const deltaOf = (base: Uint8Array, result: Uint8Array, most = Infinity) =>
  writeDelta(fileOf(base), fileOf(result), most);
/** What a manifest says of files that are made one of the other. */
const replayOf = (files: readonly Uint8Array[], deltas: readonly Uint8Array[]): Replay => ({
  anchor: { sha256: sha256(files[0]!), bytes: files[0]!.length },
  deltas: deltas.map((delta, i) => ({
    sha256: sha256(delta),
    bytes: delta.length,
    result: sha256(files[i + 1]!),
  })),
});
async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return new Uint8Array(Buffer.concat(all));
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'resolved',
    ({ code, message }: Error & { code: string }) => `${code}: ${message}`,
  );
const numbers = (...values: number[]) => new Uint8Array(Uint16Array.from(values).buffer);
const u64 = (value: number) => {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, BigInt(value), true);
  return out;
};
const made = (base: Uint8Array, result: Uint8Array, changes: number, gaps: number[], values: number[]) =>
  new Uint8Array(
    Buffer.concat([
      Buffer.from('rm-delta'),
      Buffer.from(sha256(base), 'hex'),
      Buffer.from(sha256(result), 'hex'),
      u64(base.length),
      u64(changes),
      Uint8Array.from(gaps),
      numbers(...values),
    ]),
  );

describe('the format', () => {
  // 300 numbers, of which 0, 1, 131 and 299 are changed: gaps of 0, 0, 129 = 0x81 0x01, and 167 = 0xa7 0x01.
  const base = numbers(...Array.from({ length: 300 }, (_, i) => i));
  const result = base.slice();
  const changed = new DataView(result.buffer);
  for (const [at, value] of [
    [0, 0x3f80],
    [1, 0xbeef],
    [131, 7],
    [299, 0xffff],
  ] as const)
    changed.setUint16(2 * at, value, true);
  const byHand = made(base, result, 4, [0x00, 0x00, 0x81, 0x01, 0xa7, 0x01], [0x3f80, 0xbeef, 7, 0xffff]);

  test('is that of bytes made by hand', async () => {
    expect(byHand.length).toBe(8 + 64 + 16 + 6 + 8);
    expect(deltaOf(base, result)).toEqual(byHand);
    const replay = replayOf([base, result], [byHand]);
    expect(await collect(rebuilt('model', replay, [base], [byHand]))).toEqual(result);
    // The base is not changed.
    expect(base[0]).toBe(0);
  });

  test('equal files differ in nothing', async () => {
    const none = made(base, base, 0, [], []);
    expect(deltaOf(base, base)).toEqual(none);
    expect(await collect(rebuilt('model', replayOf([base, base], [none]), [base], [none]))).toEqual(base);
  });

  test('a delta that would be as large as it may be is not made, nor one of files of other lengths', () => {
    expect(deltaOf(base, result, byHand.length)).toBeNull();
    expect(deltaOf(base, result, byHand.length + 1)).not.toBeNull();
    expect(deltaOf(base, result.subarray(2))).toBeNull();
    expect(deltaOf(new Uint8Array(3), new Uint8Array(3))).toBeNull();
  });

  const applied = (delta: Uint8Array) =>
    codeOf(collect(rebuilt('model.safetensors', replayOf([base, result], [byHand]), [base], [delta])));

  test('torn bytes are refused as such', async () => {
    for (let length = 0; length < byHand.length; length++)
      expect(await applied(byHand.subarray(0, length)), `${length} bytes`).toMatch(/^delta\.(torn|result): /);
    expect(await applied(byHand.subarray(0, 87))).toMatch('its 87 bytes do not begin as one');
    expect(await applied(byHand.subarray(0, 95))).toMatch('95 bytes are too few for 4 changes');
    // One byte less shifts the values by one, so that the last gap lacks its second byte.
    expect(await applied(byHand.subarray(0, 101))).toMatch('the gap of change 3 is cut off');
    expect(await applied(new Uint8Array([...byHand, 0]))).toMatch('1 bytes are left over');
    const beyond = made(base, result, 4, [0x00, 0x00, 0x81, 0x01, 0xa8, 0x01], [1, 2, 3, 4]);
    expect(await applied(beyond)).toMatch('changes number 300 of a file of 600 bytes');
    const endless = made(base, result, 2, [0xff, 0xff, 0xff, 0xff], [1, 2]);
    expect(await applied(endless)).toMatch('the gap of change 0 is cut off');
    const huge = byHand.slice();
    huge.set(u64(2 ** 52), 80);
    expect(await applied(huge)).toMatch('too few for 4503599627370496 changes');
  });

  test('a delta against another file, or for one of another length, is refused', async () => {
    const other = numbers(...Array.from({ length: 300 }, () => 1));
    expect(await applied(deltaOf(other, result)!)).toMatch(
      new RegExp(
        `^delta\\.base: Delta 0 of model\\.safetensors makes the file with sha256 ${sha256(result)} of the one with ${sha256(other)}\\. Expected a delta against the file with sha256 ${sha256(base)}`,
      ),
    );
    const longer = byHand.slice();
    longer.set(u64(602), 72);
    expect(await applied(longer)).toMatch(
      'delta.base: Delta 0 of model.safetensors is for a file of 602 bytes',
    );
  });

  test('a result with another hash is refused: of another value, and of another anchor', async () => {
    const turned = byHand.slice();
    turned[turned.length - 1]! ^= 1;
    expect(await applied(turned)).toMatch(
      /^delta\.result: The deltas of model\.safetensors make 600 bytes with sha256 [0-9a-f]{64}\. Expected 600 bytes/,
    );
    const replay = replayOf([base, result], [byHand]);
    const wrong = base.slice();
    wrong[20]! ^= 1;
    expect(await codeOf(collect(rebuilt('model', replay, [wrong], [byHand])))).toMatch('delta.result');
    expect(await codeOf(collect(rebuilt('model', replay, [base.subarray(0, 598)], [byHand])))).toMatch(
      'delta.result: The deltas of model make 598 bytes',
    );
  });

  test('deltas out of order are refused as such', async () => {
    const last = result.slice();
    last[100]! ^= 1;
    const second = deltaOf(result, last)!;
    const replay = replayOf([base, result, last], [byHand, second]);
    expect(await collect(rebuilt('model', replay, [base], [byHand, second]))).toEqual(last);
    // Who holds the file before needs the last delta alone.
    expect(await collect(rebuilt('model', replay, [result], [second]))).toEqual(last);
    for (const [deltas, place] of [
      [[second, byHand], 1],
      [[byHand, byHand], 0],
    ] as const)
      expect(await codeOf(collect(rebuilt('model', replay, [base], deltas)))).toMatch(
        `delta.order: Delta ${place} of model came in the place of delta ${1 - place}`,
      );
    expect(await codeOf(collect(rebuilt('model', replay, [result], [byHand])))).toMatch('delta.order');
  });
});

test('a manifest whose last delta makes another file, or that says twice where the file is, is refused', () => {
  const hash = 'a'.repeat(64);
  const entry = {
    sha256: hash,
    bytes: 8,
    replay: {
      anchor: { sha256: 'b'.repeat(64), bytes: 8, version: 1 },
      deltas: [{ sha256: 'c'.repeat(64), bytes: 91, result: hash }],
    },
  };
  expect(v.is(fileEntry, entry)).toBe(true);
  expect(v.is(fileEntry, { ...entry, sha256: 'd'.repeat(64) })).toBe(false);
  expect(v.is(fileEntry, { ...entry, bytes: 10 })).toBe(false);
  expect(v.is(fileEntry, { ...entry, version: 1 })).toBe(false);
  expect(v.is(fileEntry, { ...entry, replay: { ...entry.replay, deltas: [] } })).toBe(false);
});

/** Files of one length, each with some numbers changed since the one before. */
const chains = fc
  .tuple(
    fc.uint8Array({ minLength: 2, maxLength: 600 }),
    fc.array(fc.array(fc.tuple(fc.nat(299), fc.nat(0xffff)), { maxLength: 40 }), {
      minLength: 1,
      maxLength: 5,
    }),
  )
  .map(([start, steps]) => {
    const files = [start.slice(0, start.length - (start.length % 2))];
    for (const changes of steps) {
      const next = files.at(-1)!.slice();
      const view = new DataView(next.buffer);
      for (const [at, value] of changes) view.setUint16(2 * (at % (next.length / 2)), value, true);
      files.push(next);
    }
    return files;
  });
const deltasOfChain = (files: readonly Uint8Array[]) =>
  files.slice(1).map((file, i) => deltaOf(files[i]!, file)!);
/** Pieces of any sizes, odd ones among them. */
function* cut(bytes: Uint8Array, sizes: readonly number[]) {
  for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]!)
    yield bytes.subarray(at, at + sizes[i % sizes.length]!);
}

test('from every version of a chain the replay comes to the newest, byte for byte, however the base is cut', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(chains, sizes, async (files, sizes) => {
      const deltas = deltasOfChain(files);
      const replay = replayOf(files, deltas);
      for (const [from, base] of files.slice(0, -1).entries())
        expect(await collect(rebuilt('model', replay, cut(base, sizes), deltas.slice(from)))).toEqual(
          files.at(-1),
        );
    }),
  );
});

test('a turned bit of a delta or of the base is never taken for the file', async () => {
  await fc.assert(
    fc.asyncProperty(chains, fc.nat(), fc.nat(7), fc.nat(5), async (files, at, bit, which) => {
      const deltas = deltasOfChain(files);
      const damaged = [files[0]!, ...deltas].map((bytes) => bytes.slice());
      const of = damaged[which % damaged.length]!;
      of[at % of.length]! ^= 1 << bit;
      const [base, ...patches] = damaged;
      const made = await collect(rebuilt('model', replayOf(files, deltas), [base!], patches)).catch(
        ({ code }: { code: string }) => code,
      );
      // A byte that a later delta writes anyway does not matter.
      if (made instanceof Uint8Array) expect(made).toEqual(files.at(-1));
      else expect(made).toMatch(/^delta\.(torn|base|order|result)$/);
    }),
    { numRuns: 300 },
  );
});
