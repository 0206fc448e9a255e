/**
 * The offline file of Weights & Biases, `run-ID.wandb`, which `wandb sync` uploads: a log in LevelDB's format whose records are messages of
 * wandb_internal.proto. The few that a run needs are written here by the field numbers that it publishes: the run with its configuration,
 * a history record for each step, the summary and the exit. All times are those of the steps, so that the same curves give the same bytes.
 */
import { crc32 } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Scalars } from './event-file.ts';

export interface WandbRun {
  /** The run's id, which W&B shows it by. */
  readonly id: string;
  readonly project: string;
  /** The runs of a group are shown together. */
  readonly group: string;
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** 0 = it ended well, 1 = it failed; null = it goes on. */
  readonly exitCode: 0 | 1 | null;
}

type Fields = (message: BinaryWriter) => BinaryWriter;

/** A field that is a message itself. */
const nested = (message: BinaryWriter, field: number, fields: Fields): BinaryWriter =>
  fields(message.tag(field, WireType.LengthDelimited).fork()).join();

const text = (message: BinaryWriter, field: number, value: string): BinaryWriter =>
  message.tag(field, WireType.LengthDelimited).string(value);

/** proto3 leaves a zero out. */
const whole = (message: BinaryWriter, field: number, value: number): BinaryWriter =>
  value === 0 ? message : message.tag(field, WireType.Varint).int64(value);

/** The items of a configuration, a history record or a summary are alike: 1 = key, 16 = value as JSON. All three begin with field 1 = item. */
const items =
  (values: Readonly<Record<string, unknown>>): Fields =>
  (message) => {
    for (const [key, value] of Object.entries(values))
      if (value !== undefined)
        nested(message, 1, (item) => text(text(item, 1, key), 16, JSON.stringify(value)));
    return message;
  };

/** What W&B itself writes beside the figures: `_step` is the horizontal axis, `_timestamp` and `_runtime` are in seconds. */
const stepOf = ({ at, step, values }: Scalars, began: number) => ({
  ...values,
  _step: step,
  _timestamp: at / 1000,
  _runtime: (at - began) / 1000,
});

/** google.protobuf.Timestamp. */
const timestamp =
  (at: number): Fields =>
  (message) =>
    whole(whole(message, 1, Math.floor(at / 1000)), 2, (at % 1000) * 1_000_000);

/** The messages of a run in order, each with its field of `Record`. */
function contents(run: WandbRun, curves: readonly Scalars[]): [field: number, fields: Fields][] {
  const began = curves[0]?.at ?? 0;
  const steps = curves.map((scalars) => stepOf(scalars, began));
  return [
    [
      17,
      (message) => {
        text(text(message, 1, run.id), 3, run.project);
        nested(message, 4, items(run.config));
        text(text(message, 6, run.group), 8, run.name);
        return nested(message, 17, timestamp(began));
      },
    ],
    ...steps.map((step): [number, Fields] => [
      2,
      (message) => nested(items(step)(message), 2, (history) => whole(history, 1, step._step)),
    ]),
    // The newest value of each figure, also of one that the last step did not measure.
    [3, items(Object.assign({}, ...steps))],
    // 1 = exit code, 3 = the run is not complete, which W&B shows as running.
    [18, (message) => (run.exitCode === null ? whole(message, 3, 1) : whole(message, 1, run.exitCode))],
    // FinalRecord, without fields: releases of W&B before wandb-core handle the exit when they read it.
    [20, (message) => message],
  ];
}

const BLOCK = 32 * 1024;
/** `:W&B`, 0xbee1, version 0. The first block of the log holds it, too. */
const HEADER = Uint8Array.of(0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0);
const CHUNK_HEADER = 7;

/** The type of a chunk: 1 = a whole record, 2 = its first part, 3 = one between, 4 = its last. */
function typeOf(begun: boolean, ends: boolean): number {
  if (begun) return ends ? 4 : 3;
  return ends ? 1 : 2;
}

/** A chunk: checksum of type and data (CRC-32 of zlib, where LevelDB has CRC-32C), length, type, data. */
function chunk(type: number, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(CHUNK_HEADER + data.length);
  const view = new DataView(out.buffer);
  view.setUint16(4, data.length, true);
  out[6] = type;
  out.set(data, CHUNK_HEADER);
  view.setUint32(0, crc32(out.subarray(6)), true);
  return out;
}

/** Records in blocks of 32 KiB: one that does not fit is cut into chunks, and fewer bytes than a chunk's header are left zero. */
export function recordLog(records: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [HEADER];
  let at = HEADER.length;
  const add = (part: Uint8Array) => {
    parts.push(part);
    at += part.length;
  };
  for (const record of records) {
    let rest = record;
    let begun = false;
    do {
      if (BLOCK - (at % BLOCK) < CHUNK_HEADER) add(new Uint8Array(BLOCK - (at % BLOCK)));
      const data = rest.subarray(0, BLOCK - (at % BLOCK) - CHUNK_HEADER);
      rest = rest.subarray(data.length);
      add(chunk(typeOf(begun, rest.length === 0), data));
      begun = true;
    } while (rest.length > 0);
  }
  return Buffer.concat(parts);
}

/** The bytes of a run's file. Records are numbered from 1, as W&B does. */
export function wandbFile(run: WandbRun, curves: readonly Scalars[]): Uint8Array {
  return recordLog(
    contents(run, curves).map(([field, fields], i) =>
      nested(whole(new BinaryWriter(), 1, i + 1), field, fields).finish(),
    ),
  );
}
