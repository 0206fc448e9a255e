/** Tensors that come in pieces are those of the file read at once, however its bytes are cut. */
import { describe, expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { readSafetensors, type StorageType, writeSafetensors } from '../../model/safetensors.ts';
import { streamSafetensors } from '../../model/safetensors-stream.ts';

const random = new Random('stream');
const tensor = (...shape: number[]) => ({
  shape,
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.normal()),
});
/** The second has rows of 40 kB, so that it comes in several pieces; the last has no numbers. */
const tensors = new Map([
  ['vector', tensor(13)],
  ['matrix', tensor(61, 10_000)],
  ['small', tensor(3, 5)],
  ['empty', tensor(0, 4)],
]);

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function joined(chunks: AsyncIterable<Uint8Array>) {
  const out = new Map<string, { shape: number[]; data: number[] }>();
  const pieces: string[] = [];
  for await (const { name, shape, row, data } of streamSafetensors(chunks)) {
    pieces.push(name);
    const whole = out.get(name) ?? { shape: [...shape], data: [] };
    expect(row * shape.slice(1).reduce((a, b) => a * b, 1)).toBe(whole.data.length);
    expect(row % 8).toBe(0);
    for (const x of data) whole.data.push(x);
    out.set(name, whole);
  }
  return { out, pieces };
}

describe.each(['F32', 'BF16'] as StorageType[])('%s', (dtype) => {
  const file = writeSafetensors(tensors, dtype);

  test.each([file.length, 65_536, 1_000])('in chunks of %d bytes', async (size) => {
    const { out, pieces } = await joined(cut(file, size));
    for (const [name, { shape, data }] of readSafetensors(file))
      if (data.length) expect(out.get(name), name).toEqual({ shape, data: [...data] });
    expect(pieces.filter((name) => name === 'matrix').length).toBeGreaterThan(1);
  });

  test('a file that is cut off, or a header that claims too much, is refused', async () => {
    await expect(joined(cut(file.subarray(0, file.length - 1), 4096))).rejects.toThrow(/1 bytes too early/);
    await expect(joined(cut(file.subarray(0, 5), 2))).rejects.toThrow(/3 bytes too early/);
    const claimed = new Uint8Array(file);
    claimed.fill(255, 0, 7);
    await expect(joined(cut(claimed, 4096))).rejects.toMatchObject({ code: 'safetensors.invalid' });
  });

  test('the source is read to its end, where it may still object', async () => {
    const objecting = async function* () {
      yield* cut(file, 4096);
      throw new Error('the hash is another');
    };
    await expect(joined(objecting())).rejects.toThrow('the hash is another');
  });
});
