import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { completionsSha256 } from '../../core/audit/work-seal.ts';
import { deriveId, deriveLongId, philox4x32, Random, uniforms } from '../../core/random.ts';

const hex = (block: readonly number[]) => block.map((word) => word.toString(16).padStart(8, '0')).join(' ');

test('philox4x32-10 gives the known answers of the Random123 distribution', () => {
  const ones = 0xffffffff;
  expect(hex(philox4x32([0, 0, 0, 0], [0, 0]))).toBe('6627e8d5 e169c58d bc57ac4c 9b00dbd8');
  expect(hex(philox4x32([ones, ones, ones, ones], [ones, ones]))).toBe('408f276d 41c83b0e a20bc7c6 6d5451fd');
  expect(hex(philox4x32([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]))).toBe(
    'd16cfe09 94fdcceb 5001e420 24126ea1',
  );
});

test('a uniform depends on its id and index alone', () => {
  expect([...uniforms('sample', 3)]).toEqual([...uniforms('sample', 50)].slice(0, 3));
  expect([...uniforms('sample', 4)]).not.toEqual([...uniforms('sample2', 4)]);
});

test('uniforms lie strictly between 0 and 1 and fill ten bins evenly', () => {
  const draws = uniforms('bins', 100_000);
  const bins = new Array<number>(10).fill(0);
  for (const u of draws) {
    if (!(u > 0 && u < 1)) throw new Error(`out of range: ${u}`);
    bins[Math.floor(u * 10)]!++;
  }
  // chi-square with 9 degrees of freedom, 99.9 % quantile
  expect(bins.reduce((sum, n) => sum + (n - 10_000) ** 2 / 10_000, 0)).toBeLessThan(27.88);
});

test('a shuffle keeps the items and int stays in its range', () => {
  const random = new Random('shuffle');
  expect(random.shuffle([1, 2, 3, 4, 5]).sort()).toEqual([1, 2, 3, 4, 5]);
  expect(new Set(Array.from({ length: 200 }, () => random.int(3)))).toEqual(new Set([0, 1, 2]));
});

test('ids and hashes are those of SHA-256, by whichever code', async () => {
  const long = 'é'.repeat(5000);
  const expected = createHash('sha256').update(`work\0${long}\0${7}`).digest('hex').slice(0, 32);
  expect(deriveId('work', long, 7)).toBe(expected);
  expect(await deriveLongId('work', long, 7)).toBe(expected);
  // The fields in the order of their names, whatever order and whatever else they came with.
  const completion = { stopped: true, logprobs: [-0.5, -1e-7], ids: [3, 4], more: 1 };
  const text = '[{"ids":[3,4],"logprobs":[-0.5,-1e-7],"stopped":true}]';
  expect(await completionsSha256([completion])).toBe(createHash('sha256').update(text).digest('hex'));
});
