/** Curves as files: TensorBoard's records read by the field numbers that TensorFlow publishes, CSV and JSON lines by hand. */
import { expect, test } from 'vitest';
import { crc32c, eventFile } from '../../cli/curves/event-file.ts';
import { curvesCsv, curvesJsonl, curvesOf } from '../../cli/curves/write-curves.ts';
import type { RoundReport } from '../../core/schema/report.ts';

/** RFC 3720, B.4: 32 zeros, 32 ones, 0 to 31; and the usual check value. */
test('CRC-32C is that of the RFC', () => {
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
});

/** A message's fields by number: numbers, and bytes of nested messages. */
function fieldsOf(bytes: Uint8Array): [field: number, value: number | Uint8Array][] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const fields: [number, number | Uint8Array][] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  /** Goes on by so many bytes, and returns where it was. */
  const take = (length: number) => {
    const from = at;
    at += length;
    return from;
  };
  while (at < bytes.length) {
    const key = varint();
    const field = key >> 3;
    if ((key & 7) === 0) fields.push([field, varint()]);
    else if ((key & 7) === 1) fields.push([field, view.getFloat64(take(8), true)]);
    else if ((key & 7) === 5) fields.push([field, view.getFloat32(take(4), true)]);
    else {
      const length = varint();
      const from = take(length);
      fields.push([field, bytes.subarray(from, from + length)]);
    }
  }
  return fields;
}

const textOf = (value: unknown) => new TextDecoder().decode(value as Uint8Array);

test('an event file holds a version, then a scalar for each figure of each step', () => {
  const file = eventFile([
    { at: 1_700_000_000_500, step: 0, values: { 'evaluation/accuracy': 0.25 } },
    { at: 1_700_000_001_000, step: 300, values: { reward: -0.5, 'learner/loss': 2 } },
  ]);
  const view = new DataView(file.buffer);
  const unmask = (masked: number) => {
    const rotated = (masked - 0xa282ead8) >>> 0;
    return ((rotated << 15) | (rotated >>> 17)) >>> 0;
  };
  const events: Uint8Array[] = [];
  for (let at = 0; at < file.length; ) {
    const length = Number(view.getBigUint64(at, true));
    expect(unmask(view.getUint32(at + 8, true))).toBe(crc32c(file.subarray(at, at + 8)));
    const data = file.subarray(at + 12, at + 12 + length);
    expect(unmask(view.getUint32(at + 12 + length, true))).toBe(crc32c(data));
    events.push(data);
    at += 16 + length;
  }
  const [head, ...steps] = events.map(fieldsOf);
  expect(head!.map(([field]) => field)).toEqual([1, 3]);
  expect(textOf(head![1]![1])).toBe('brain.Event:2');
  const read = steps.map((fields) => {
    const of = new Map(fields);
    const values = fieldsOf(of.get(5) as Uint8Array).map(([field, value]) => {
      expect(field).toBe(1);
      const scalar = new Map(fieldsOf(value as Uint8Array));
      return [textOf(scalar.get(1)), scalar.get(2)];
    });
    return { at: of.get(1), step: of.get(2), values: Object.fromEntries(values) };
  });
  expect(read).toEqual([
    { at: 1_700_000_000.5, step: 0, values: { 'evaluation/accuracy': 0.25 } },
    { at: 1_700_000_001, step: 300, values: { reward: -0.5, 'learner/loss': 2 } },
  ]);
});

const evaluation = (accuracy: number, version: number) => ({
  version,
  heldOut: { n: 4, accuracy, sampled: null, forcedWorked: null, worked: null, formatRate: null },
  judge: { fixed: null, own: null },
});
const report: RoundReport = {
  start: evaluation(0.25, 0),
  evaluation: { ...evaluation(0.5, 1), figures: { vote: 0.75, none: null } },
  figures: { 'a,b': 3 },
};
const rounds = [
  { index: 2, report: null, createdAt: 5000, endedAt: null },
  { index: 1, report, createdAt: 1000, endedAt: 2000 },
];

test('step 0 is the version that the run began from; what was not measured is left out', () => {
  expect(curvesOf(rounds)).toEqual([
    { at: 1000, step: 0, values: { 'evaluation/accuracy': 0.25 } },
    {
      at: 2000,
      step: 1,
      values: { 'figures/a,b': 3, 'evaluation/accuracy': 0.5, 'evaluation/figures/vote': 0.75 },
    },
  ]);
  expect(curvesCsv(curvesOf(rounds))).toBe(
    'round,time,evaluation/accuracy,"figures/a,b",evaluation/figures/vote\n' +
      '0,1970-01-01T00:00:01.000Z,0.25,,\n1,1970-01-01T00:00:02.000Z,0.5,3,0.75\n',
  );
  expect(curvesJsonl(curvesOf(rounds)).split('\n')[0]).toBe(
    '{"round":0,"time":"1970-01-01T00:00:01.000Z","evaluation/accuracy":0.25}',
  );
});
