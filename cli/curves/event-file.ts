/**
 * TensorBoard's event files: records of `length, crc(length), bytes, crc(bytes)`, each of them an `Event` of TensorFlow's event.proto with
 * scalars of summary.proto. Only these two messages are written, so they are encoded here; test/cli/curves.test.ts reads them by
 * the published field numbers.
 */
import { joinBytes } from '../../core/text/join-bytes.ts';

/** CRC-32C (Castagnoli), bit-reversed polynomial. */
const POLYNOMIAL = 0x82f63b78;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
});

export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** TFRecord masks its checksums, so that a checksum of a record that holds checksums is not a weak one. */
const masked = (bytes: Uint8Array): number => {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
};

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  while (left >= 128) {
    bytes.push((left % 128) | 128);
    left = Math.floor(left / 128);
  }
  return [...bytes, left];
}

/** A field of wire type 2: bytes with their length. */
const delimited = (field: number, bytes: readonly number[]): number[] => [
  ...varint(field * 8 + 2),
  ...varint(bytes.length),
  ...bytes,
];

const text = (value: string) => [...new TextEncoder().encode(value)];

function double(field: number, value: number): number[] {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return [...varint(field * 8 + 1), ...bytes];
}

function float(field: number, value: number): number[] {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return [...varint(field * 8 + 5), ...bytes];
}

function record(event: readonly number[]): Uint8Array {
  const data = Uint8Array.from(event);
  const out = new Uint8Array(16 + data.length);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, masked(out.subarray(0, 8)), true);
  out.set(data, 12);
  view.setUint32(12 + data.length, masked(data), true);
  return out;
}

export interface Scalars {
  /** Time of the measurement, ms since 1970. */
  readonly at: number;
  readonly step: number;
  readonly values: Readonly<Record<string, number>>;
}

/** The bytes of an event file; values are rounded to float32, as TensorBoard keeps them. */
export function eventFile(scalars: readonly Scalars[]): Uint8Array {
  const began = scalars[0]?.at ?? 0;
  const records = [
    record([...double(1, began / 1000), ...delimited(3, text('brain.Event:2'))]),
    ...scalars.map(({ at, step, values }) => {
      const summary = Object.entries(values).flatMap(([tag, value]) =>
        delimited(1, [...delimited(1, text(tag)), ...float(2, value)]),
      );
      return record([...double(1, at / 1000), ...varint(2 * 8), ...varint(step), ...delimited(5, summary)]);
    }),
  ];
  return joinBytes(records);
}
