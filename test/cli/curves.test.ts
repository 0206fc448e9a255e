/**
 * Curves as files: TensorBoard's records and W&B's read by the field numbers that TensorFlow and W&B publish, W&B's also held to the bytes of
 * its own writer; CSV and JSON lines by hand.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crc32c, eventFile } from '../../cli/curves/event-file.ts';
import { recordLog, wandbFile } from '../../cli/curves/wandb-file.ts';
import { curvesCsv, curvesJsonl, curvesOf, writeCurves } from '../../cli/curves/write-curves.ts';
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

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** CRC-32 of zlib, bit by bit. */
function crcOf(bytes: Iterable<number>): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

test('a log begins with the mark of W&B, and a chunk with the checksum of its type and data', () => {
  expect(crcOf(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
  const log = recordLog([Uint8Array.of(7, 8, 9)]);
  expect([...log.subarray(0, 7)]).toEqual([...new TextEncoder().encode(':W&B'), 0xe1, 0xbe, 0]);
  expect(new DataView(log.buffer, log.byteOffset).getUint32(7, true)).toBe(crcOf([1, 7, 8, 9]));
  expect([...log.subarray(11)]).toEqual([3, 0, 1, 7, 8, 9]);
});

/** The hash is of what DataStore of wandb/sdk/internal/datastore.py (wandb/wandb at b6e2950588) writes of the same records. */
test('records are cut at blocks as W&B cuts them, whatever room a block has left', () => {
  const bytes = (length: number, record: number) =>
    Uint8Array.from({ length }, (_, i) => (i * 31 + record) & 255);
  const logs = Array.from({ length: 20 }, (_, left) =>
    recordLog([32 * 1024 - 14 - left, 5, 100_000, 0, 40_000 - left].map(bytes)),
  );
  expect(sha256(Buffer.concat(logs))).toBe(
    'faec8f8b53cb63b31706fb97c8686b0d989de4d0e325be2af4353665f6f4be27',
  );
});

const wandbSteps = [
  { at: 1_700_000_000_500, step: 0, values: { 'evaluation/accuracy': 0.25 } },
  { at: 1_700_000_002_000, step: 300, values: { reward: -0.5, 'learner/loss': 2 } },
];
const wandbRun = {
  id: 'ab'.repeat(16),
  project: 'rollmesh',
  group: 'trio',
  name: 'arithmetic-abababab',
  config: { recipe: 'trio', seed: 7, freeze: ['judge'], variant: undefined },
};

test('W&B’s file holds the run, a record for each step, the newest figures and the exit', () => {
  const file = wandbFile({ ...wandbRun, exitCode: 0 }, wandbSteps);
  const view = new DataView(file.buffer, file.byteOffset);
  const records: Map<number, number | Uint8Array>[] = [];
  for (let at = 7; at < file.length; ) {
    const end = at + 7 + view.getUint16(at + 4, true);
    records.push(new Map(fieldsOf(file.subarray(at + 7, end))));
    at = end;
  }
  const within = (message: unknown) => fieldsOf(message as Uint8Array);
  const itemsOf = (message: unknown) =>
    within(message)
      .filter(([field]) => field === 1)
      .map(([, item]) => new Map(within(item)))
      .map((item) => [textOf(item.get(1)), JSON.parse(textOf(item.get(16)))]);
  // 17 = run, 2 = history, 3 = summary, 18 = exit, 20 = final.
  expect(records.map((record) => [...record.keys()])).toEqual([
    [1, 17],
    [1, 2],
    [1, 2],
    [1, 3],
    [1, 18],
    [1, 20],
  ]);
  expect(records.map((record) => record.get(1))).toEqual([1, 2, 3, 4, 5, 6]);
  const run = new Map(within(records[0]!.get(17)));
  expect([1, 3, 6, 8].map((field) => textOf(run.get(field)))).toEqual([
    wandbRun.id,
    'rollmesh',
    'trio',
    'arithmetic-abababab',
  ]);
  expect(itemsOf(run.get(4))).toEqual([
    ['recipe', 'trio'],
    ['seed', 7],
    ['freeze', ['judge']],
  ]);
  expect(within(run.get(17))).toEqual([
    [1, 1_700_000_000],
    [2, 500_000_000],
  ]);
  expect(
    records.slice(1, 4).map((record) => Object.fromEntries(itemsOf(record.get(2) ?? record.get(3)))),
  ).toEqual([
    { 'evaluation/accuracy': 0.25, _step: 0, _timestamp: 1_700_000_000.5, _runtime: 0 },
    { reward: -0.5, 'learner/loss': 2, _step: 300, _timestamp: 1_700_000_002, _runtime: 1.5 },
    {
      'evaluation/accuracy': 0.25,
      reward: -0.5,
      'learner/loss': 2,
      _step: 300,
      _timestamp: 1_700_000_002,
      _runtime: 1.5,
    },
  ]);
});

/** The hashes are of what `wandb_internal_pb2` of wandb 0.30.0 and DataStore, as above, write of the same run. */
test('a run that ended, one that failed and one that goes on have the bytes of W&B’s own writer', () => {
  const hashOf = (exitCode: 0 | 1 | null) => sha256(wandbFile({ ...wandbRun, exitCode }, wandbSteps));
  expect([hashOf(0), hashOf(1), hashOf(null)]).toEqual([
    '35864630f53b474dbb4a72fc2483f46043d1f9a9848d1f5d276fe40343d3474e',
    '85f8e92971cbe333a2c57a2e52f4970ccc4c0cd85e5b84a5cfb3510a3650e646',
    '5bfcc3ae14d8e07cafb92ee2cc380d767e4d578bbd2b4d64410aa52446ba9e7d',
  ]);
});

test('`wandb sync` finds the file in a folder with its names, and whether the run is over', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollmesh-curves-'));
  try {
    const settings = {
      recipe: 'trio',
      seed: 7,
      policy: 'arithmetic',
      rewardFunction: 'mix',
      freeze: [],
      tasks: 4,
      groupSize: 4,
    };
    const id = 'ab'.repeat(16);
    const exitOf = (state: 'open' | 'stopped', target: number) => {
      const path = writeCurves(wandbSteps, { format: 'wandb', folder, run: { id, settings, state, target } });
      expect(path).toBe(join(folder, 'wandb', `offline-run-20231114_221320-${id}`, `run-${id}.wandb`));
      // The last two chunks are the exit and the final record, whose message is empty.
      return [...readFileSync(path)].slice(0, -12).slice(-6);
    };
    // Fields 1 and 18 of the record with the number 5; the exit is empty, has `not_complete`, or has the code 1.
    expect(exitOf('open', 300)).toEqual([1, 8, 5, 0x92, 1, 0]);
    expect(exitOf('stopped', 300)).toEqual([1, 8, 5, 0x92, 1, 0]);
    expect(exitOf('open', 301)).toEqual([5, 0x92, 1, 2, 0x18, 1]);
    expect(exitOf('stopped', 301)).toEqual([5, 0x92, 1, 2, 8, 1]);
    expect(readdirSync(join(folder, 'wandb', `offline-run-20231114_221320-${id}`)).sort()).toEqual([
      'files',
      `run-${id}.wandb`,
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
