/** Messages and archives of the Tinker API against bytes that its own client library and Python made. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readArchive, writeArchive } from '../../../learner/tinker/archive.ts';
import {
  decodeForwardBackward,
  decodeOutput,
  encodeForwardBackward,
  encodeOutput,
  encodeSamples,
} from '../../../learner/tinker/messages.ts';
import { made } from './server.ts';

const rows = (logprobs: readonly ArrayLike<number>[]) => logprobs.map((row) => Array.from(row));

test('a request of the client library is read, and written as it writes it', () => {
  const request = decodeForwardBackward(made('ppoRequest'));
  expect({
    ...request,
    data: request.data.map(({ tokens, inputs }) => [tokens, ...rows(Object.values(inputs))]),
  }).toEqual({
    modelId: 'm',
    seqId: 9,
    loss: 'ppo',
    config: { clip_low_threshold: 0.75, clip_high_threshold: 1.5 },
    forwardOnly: false,
    // Python writes maps in the order of their keys.
    data: [
      [
        [3, 1, 4],
        [0, 2, -3.5],
        [0, -0.5, -1.25],
        [1, 4, 1],
      ],
      [[300_000], [0.25], [-2], [7]],
    ],
  });
  // It wrote the tokens of the first sequence as two chunks, which takes three tags and three lengths more.
  const own = encodeForwardBackward(request);
  expect(decodeForwardBackward(own)).toEqual(request);
  expect(made('ppoRequest').length - own.length).toBe(6);
});

test('answers are written to the bytes that its schema gives, and read with two bytes a number too', () => {
  const output = {
    logprobs: [Float32Array.of(-0.5, -1.25), Float32Array.of(-2)],
    metrics: { 'loss:sum': -1.5 },
  };
  expect(encodeOutput(output)).toEqual(made('output'));
  const read = decodeOutput(made('outputOfTwoRecords'));
  expect(rows(read.logprobs)).toEqual([[-0.5, -1.25], [-2], [-3, -0.25, -8]]);
  expect(read.metrics).toEqual({ 'loss:sum': -1.5 });
  const samples = [
    { ids: [5, 6], logprobs: [-0.5, -0.75], stopped: true },
    { ids: [7], logprobs: [-1.5], stopped: false },
  ];
  expect(encodeSamples(samples, [Number.NaN, -2.5])).toEqual(made('samples'));
});

test('a message that is cut off, or has what is not read, is refused by name', () => {
  for (const end of [1, 20, 60])
    expect(() => decodeForwardBackward(made('ppoRequest').subarray(0, end))).toThrow(/cannot be read/);
  expect(() => decodeOutput(made('output').subarray(0, 40))).toThrow(/cannot be read/);
});

test('archives of tarfile are read by the last part of names, and ours are read by it', () => {
  const files = readArchive(made('archive'));
  expect(Object.fromEntries([...files].map(([name, bytes]) => [name, Array.from(bytes)]))).toEqual({
    'adapter_config.json': Array.from(new TextEncoder().encode('{"r": 4}')),
    'adapter_model.safetensors': [0, 1, 2, 3, 4, 5, 6],
  });
  const own = { a: new Uint8Array(513).fill(7), b: new Uint8Array() };
  expect(Object.fromEntries(readArchive(gzipSync(writeArchive(own))))).toEqual(own);
});

test('archives that are cut off, damaged, or have links are refused', () => {
  const plain = gunzipSync(made('archive'));
  expect(() => readArchive(plain.subarray(0, 700))).toThrow(/ends after 700 bytes/);
  expect(() => readArchive(made('archive').subarray(0, 90))).toThrow(/gzip/);
  expect(() => readArchive(plain.map((byte, i) => (i === 3 ? byte + 1 : byte)))).toThrow(/damaged/);
  expect(() => readArchive(made('archiveWithLink'))).toThrow(/link/);
  // A folder of -512 bytes ends where it begins.
  const backwards = writeArchive({ a: new Uint8Array() });
  backwards.set(new TextEncoder().encode('-0000001000\0'), 124);
  backwards.set(new TextEncoder().encode('5'), 156);
  const sum = backwards.subarray(0, 512).reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 32 : byte), 0);
  backwards.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
  expect(() => readArchive(backwards)).toThrow(/in the middle/);
});
