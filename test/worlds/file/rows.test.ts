/** A file of lines is read part by part to the same rows, wherever the parts end. */
import { expect, test, vi } from 'vitest';
import type { Rows } from '../../../worlds/file/row.ts';
import { type FileBytes, readRows } from '../../../worlds/file/rows.ts';

const LINES = ['{"a":"é中🙂"}', '', ' \t', '{"a":"two"}\r', '[3]', '{"a":', '{"a":"\\n"}', '   {"a":7}'];

async function all(bytes: FileBytes): Promise<Rows> {
  const parts: Rows[] = [];
  for await (const part of readRows('t.jsonl', bytes)) parts.push(part);
  return { rows: parts.flatMap(({ rows }) => rows), faults: parts.flatMap(({ faults }) => faults) };
}

async function* partsOf(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each(['', '\n', '\r\n\r\n \n'])('lines in parts of any size, and %j at the end', async (end) => {
  // A byte order mark is no part of the first line.
  const bytes = new TextEncoder().encode(`\ufeff${LINES.join('\n')}${end}`);
  for (const size of [1, 2, 3, 7, 16, 1000]) {
    const { rows, faults } = await all(partsOf(bytes, size));
    expect(rows).toEqual([
      { line: 1, value: { a: 'é中🙂' } },
      { line: 4, value: { a: 'two' } },
      { line: 7, value: { a: '\n' } },
      { line: 8, value: { a: 7 } },
    ]);
    expect(faults).toEqual([
      { line: 2, what: 'it is empty' },
      { line: 3, what: 'it is empty' },
      { line: 5, what: 'it is no JSON object' },
      { line: 6, what: expect.stringMatching(/^it is not JSON/) },
    ]);
    expect(await all(bytes)).toEqual({ rows, faults });
  }
});

test.each([
  ['a single line', 'a'],
  ['empty lines', '\n'],
])('a file of %s is looked through once or twice, and not once for each part', async (_, character) => {
  const bytes = new TextEncoder().encode(character.repeat(20_000));
  let looked = 0;
  const { trimEnd } = String.prototype;
  const spy = vi.spyOn(String.prototype, 'trimEnd').mockImplementation(function (this: string) {
    looked += this.length;
    return trimEnd.call(this);
  });
  const { rows, faults } = await all(partsOf(bytes, 100));
  spy.mockRestore();
  expect([rows.length, faults.length]).toEqual([0, 1]);
  expect(looked).toBeLessThanOrEqual(40_000);
});

test('a file without lines has an empty one, and one that ends within a letter is no text', async () => {
  for (const text of ['', '\n\n', '  '])
    expect(await all(new TextEncoder().encode(text))).toEqual({
      rows: [],
      faults: [{ line: 1, what: 'it is empty' }],
    });
  const cut = new TextEncoder().encode('{"a":"é"}').subarray(0, 7);
  await expect(all(partsOf(cut, 2))).rejects.toMatchObject({ code: 'file.encoding' });
});
