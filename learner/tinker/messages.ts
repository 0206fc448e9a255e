/**
 * The protobuf half of Tinker's training API: what `forward_backward` is sent, and what it and a sample answer. The few messages are read and written
 * by the field numbers of the public schema (thinking-machines-lab/tinker, src/tinker/proto). Arrays of numbers are bytes in them, little-endian.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { wrongInput } from '../../core/errors.ts';
import { fromBfloat16 } from '../../model/half.ts';
import { SDK_VERSION } from './wire.ts';

/** One number for each position of a datum. */
export type Inputs = Readonly<Record<string, ArrayLike<number>>>;

/** A sequence of n tokens, and what the loss is given at each of its n positions: the token that is to come after it, and more by loss. */
export interface Datum {
  readonly tokens: readonly number[];
  readonly inputs: Inputs;
}

export interface ForwardBackward {
  readonly modelId: string;
  readonly seqId: number;
  readonly data: readonly Datum[];
  readonly loss: string;
  readonly config: Readonly<Record<string, number>>;
  /** No gradient is computed. */
  readonly forwardOnly: boolean;
}

export interface ForwardBackwardOutput {
  /** The log-probability of each target, nats [data][positions]. */
  readonly logprobs: readonly Float32Array[];
  readonly metrics: Readonly<Record<string, number>>;
}

export interface Sampled {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly stopped: boolean;
}

/** Inputs that are whole numbers; all others are float32. */
const WHOLE = ['target_tokens'];
const [FLOAT32, INT64, INT32, BFLOAT16] = [1, 2, 3, 4];

const malformed = (what: string) =>
  wrongInput('tinker.message', `A message of the Tinker API cannot be read: ${what}.`, {
    expected: `messages as release ${SDK_VERSION} of its client library has them`,
  });

const bytesOf = (numbers: Float32Array | Int32Array | BigInt64Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

const int64 = (numbers: ArrayLike<number>): Uint8Array =>
  bytesOf(BigInt64Array.from(Array.from(numbers), (n) => BigInt(n)));

/** The bytes as an array of their own, so that they are aligned. */
function aligned(bytes: Uint8Array, width: number): ArrayBuffer {
  if (bytes.length % width) throw malformed(`${bytes.length} bytes of numbers of ${width} bytes`);
  return new Uint8Array(bytes).buffer;
}

function numbersOf(bytes: Uint8Array, dtype: number): Float32Array | number[] {
  switch (dtype) {
    case FLOAT32:
      return new Float32Array(aligned(bytes, 4));
    case INT64:
      return Array.from(new BigInt64Array(aligned(bytes, 8)), Number);
    case INT32:
      return Array.from(new Int32Array(aligned(bytes, 4)));
    case BFLOAT16:
      return fromBfloat16(new Uint16Array(aligned(bytes, 2)));
    default:
      throw malformed(`numbers of the type ${dtype}`);
  }
}

type Write = (message: BinaryWriter) => BinaryWriter;

const nested = (to: BinaryWriter, field: number, write: Write): BinaryWriter =>
  write(to.tag(field, WireType.LengthDelimited).fork()).join();
const bytes = (to: BinaryWriter, field: number, value: Uint8Array): BinaryWriter =>
  to.tag(field, WireType.LengthDelimited).bytes(value);
const text = (to: BinaryWriter, field: number, value: string): BinaryWriter =>
  to.tag(field, WireType.LengthDelimited).string(value);
const whole = (to: BinaryWriter, field: number, value: number): BinaryWriter =>
  to.tag(field, WireType.Varint).int64(value);

/** An entry of a map: 1 = key, 2 = value. */
const entry = (to: BinaryWriter, field: number, key: string, value: Write): BinaryWriter =>
  nested(to, field, (message) => value(text(message, 1, key)));
const figures = (to: BinaryWriter, field: number, values: Readonly<Record<string, number>>): void => {
  for (const [key, value] of Object.entries(values))
    entry(to, field, key, (message) => message.tag(2, WireType.Bit64).double(value));
};

/** What is done with the fields of a message, by their numbers; others are skipped, since later releases may add some. */
type Read = Readonly<Record<number, (reader: BinaryReader, type: WireType) => void>>;

function read(message: Uint8Array, fields: Read): void {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const known = fields[field];
    if (known) known(reader, type);
    else reader.skip(type, field);
  }
}

/** Reads a whole message; what is no such message throws `tinker.message`. */
function readAll<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof TypeError || !(cause instanceof Error))
      throw malformed('it ends too early');
    if (cause.name === 'RollmeshError') throw cause;
    throw malformed(cause.message);
  }
}

function readEntry<T>(
  message: Uint8Array,
  value: (reader: BinaryReader) => T,
): [key: string, value: T | undefined] {
  let key = '';
  let found: T | undefined;
  read(message, {
    1: (reader) => {
      key = reader.string();
    },
    2: (reader) => {
      found = value(reader);
    },
  });
  return [key, found];
}

/** A list of whole numbers, which may be packed or not. */
function dims(into: number[]): Read[number] {
  return (reader, type) => {
    if (type !== WireType.LengthDelimited) {
      into.push(Number(reader.int64()));
      return;
    }
    const packed = new BinaryReader(reader.bytes());
    while (packed.pos < packed.len) into.push(Number(packed.int64()));
  };
}

function tensor(name: string, message: Uint8Array): Float32Array | number[] {
  let dense: Uint8Array | undefined;
  let dtype = 0;
  const shape: number[] = [];
  read(message, {
    1: (reader) => {
      dense = reader.bytes();
    },
    3: (reader) => {
      dtype = reader.int32();
    },
    4: dims(shape),
  });
  if (!dense || shape.length > 1)
    throw malformed(
      `the input ${name} is ${dense ? `of shape [${shape.join(', ')}]` : 'sparse'}, not one number a position`,
    );
  return numbersOf(dense, dtype);
}

function datum(message: Uint8Array): Datum {
  const tokens: number[] = [];
  const inputs: Record<string, ArrayLike<number>> = {};
  read(message, {
    1: (chunk) =>
      read(chunk.bytes(), {
        1: (text) => read(text.bytes(), { 1: (ids) => tokens.push(...numbersOf(ids.bytes(), INT32)) }),
        2: () => {
          throw malformed('it shows an image, which this server does not read');
        },
        3: () => {
          throw malformed('it has audio, which this server does not read');
        },
      }),
    2: (input) => {
      const [name, value] = readEntry(input.bytes(), (reader) => reader.bytes());
      if (value) inputs[name] = tensor(name, value);
    },
  });
  return { tokens, inputs };
}

export function encodeForwardBackward(request: ForwardBackward): Uint8Array {
  const to = new BinaryWriter();
  whole(text(to, 1, request.modelId), 2, request.seqId);
  for (const { tokens, inputs } of request.data)
    nested(to, 3, (message) => {
      nested(message, 1, (chunk) =>
        nested(chunk, 1, (ids) => bytes(ids, 1, bytesOf(Int32Array.from(tokens)))),
      );
      for (const [name, numbers] of Object.entries(inputs))
        entry(message, 2, name, (to) =>
          nested(to, 2, (value) => {
            const isWhole = WHOLE.includes(name);
            bytes(value, 1, isWhole ? int64(numbers) : bytesOf(Float32Array.from(numbers)));
            whole(value, 3, isWhole ? INT64 : FLOAT32);
            return value.tag(4, WireType.LengthDelimited).fork().int64(numbers.length).join();
          }),
        );
      return message;
    });
  text(to, 4, request.loss);
  figures(to, 5, request.config);
  if (request.forwardOnly) to.tag(6, WireType.Varint).bool(true);
  return to.finish();
}

/** @throws RollmeshError `tinker.message` for what is no such request, or has more than text and one number a position */
export const decodeForwardBackward = (message: Uint8Array): ForwardBackward =>
  readAll(() => {
    const request = {
      modelId: '',
      seqId: 0,
      data: [] as Datum[],
      loss: '',
      config: {} as Record<string, number>,
      forwardOnly: false,
    };
    read(message, {
      1: (reader) => {
        request.modelId = reader.string();
      },
      2: (reader) => {
        request.seqId = reader.int32();
      },
      3: (reader) => request.data.push(datum(reader.bytes())),
      4: (reader) => {
        request.loss = reader.string();
      },
      5: (reader) => {
        const [key, value = 0] = readEntry(reader.bytes(), (inner) => inner.double());
        request.config[key] = value;
      },
      6: (reader) => {
        request.forwardOnly = reader.bool();
      },
    });
    return request;
  });

export function encodeOutput({ logprobs, metrics }: ForwardBackwardOutput): Uint8Array {
  const to = new BinaryWriter();
  text(to, 1, 'ArrayRecord');
  nested(to, 2, (record) => {
    text(record, 1, 'ArrayRecord');
    entry(record, 2, 'logprobs', (field) =>
      nested(field, 2, (batched) => {
        const all = new Float32Array(logprobs.reduce((sum, { length }) => sum + length, 0));
        const offsets = [0];
        for (const row of logprobs) {
          all.set(row, offsets.at(-1)! / 4);
          offsets.push(offsets.at(-1)! + 4 * row.length);
        }
        bytes(bytes(batched, 1, bytesOf(all)), 2, int64(offsets));
        return whole(batched, 3, FLOAT32);
      }),
    );
    return whole(record, 3, logprobs.length);
  });
  figures(to, 3, metrics);
  return to.finish();
}

/** The rows of numbers that a field of an answer has, one for each datum. */
function rows(message: Uint8Array): Float32Array[] {
  let data = new Uint8Array();
  let offsets: number[] = [];
  let dtype = 0;
  read(message, {
    1: (reader) => {
      data = new Uint8Array(reader.bytes());
    },
    2: (reader) => {
      offsets = numbersOf(reader.bytes(), INT64) as number[];
    },
    3: (reader) => {
      dtype = reader.int32();
    },
  });
  return offsets
    .slice(1)
    .map((end, i) => Float32Array.from(numbersOf(data.subarray(offsets[i], end), dtype)));
}

/** @throws RollmeshError `tinker.message` for what is no such answer */
export const decodeOutput = (message: Uint8Array): ForwardBackwardOutput =>
  readAll(() => {
    const logprobs: Float32Array[] = [];
    const metrics: Record<string, number> = {};
    read(message, {
      2: (record) =>
        read(record.bytes(), {
          2: (field) => {
            const [name, value] = readEntry(field.bytes(), (inner) => inner.bytes());
            if (name === 'logprobs' && value) logprobs.push(...rows(value));
          },
        }),
      3: (reader) => {
        const [key, value = 0] = readEntry(reader.bytes(), (inner) => inner.double());
        metrics[key] = value;
      },
    });
    return { logprobs, metrics };
  });

/** `promptLogprobs`: those of the prompt's tokens, NaN for the first; absent = they were not asked for. */
export function encodeSamples(samples: readonly Sampled[], promptLogprobs?: readonly number[]): Uint8Array {
  const to = new BinaryWriter();
  for (const { ids, logprobs, stopped } of samples)
    nested(to, 1, (sequence) => {
      // 0 = a stop token ended it, which proto3 leaves out; 1 = its length did.
      if (!stopped) whole(sequence, 1, 1);
      bytes(sequence, 2, bytesOf(Int32Array.from(ids)));
      return bytes(sequence, 3, bytesOf(Float32Array.from(logprobs)));
    });
  if (promptLogprobs) bytes(to, 2, bytesOf(Float32Array.from(promptLogprobs)));
  return to.finish();
}
