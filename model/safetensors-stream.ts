/**
 * Reads a safetensors file as its bytes arrive. It yields pieces of tensors in the file's order, so that at most one piece is in memory at
 * once. The format's rules are the same as in safetensors.ts.
 */
import { wrongInput } from '../core/errors.ts';
import { bytesOf, decode, readHeader, type StorageType } from './safetensors.ts';

/** Rows [row, row + data.length / width) of a tensor whose first dimension is rows; a vector is never split. */
export interface TensorPiece {
  readonly name: string;
  readonly shape: readonly number[];
  readonly row: number;
  readonly data: Float32Array;
}

/** Approximate bytes of a piece, and the number that its rows are a multiple of, except in a tensor's last piece. */
const PIECE_BYTES = 1 << 20;
const PIECE_ROWS = 8;

/** Reads exact numbers of bytes from chunks of any size. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Reads the next `length` bytes into a new array. Throws `wrong-input` where the file ends before. */
  async take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const out = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done)
          throw wrongInput('safetensors.invalid', `The file ends ${length - at} bytes too early.`, {
            expected: 'a whole .safetensors file',
            next: 'Download or write it again.',
          });
        this.#rest = new Uint8Array(value);
        continue;
      }
      const part = this.#rest.subarray(0, length - at);
      out.set(part, at);
      at += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return out;
  }

  /** Reads to the end of the file, because its source may check the bytes there. */
  async end(): Promise<void> {
    while (!(await this.#chunks.next()).done);
  }

  /** Lets go of the source, wherever the reading ended. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

export async function* streamSafetensors(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TensorPiece> {
  const reader = new ByteReader(chunks);
  try {
    yield* tensorsOf(reader);
    await reader.end();
  } finally {
    await reader.close();
  }
}

async function* tensorsOf(reader: ByteReader): AsyncGenerator<TensorPiece> {
  const length = new DataView((await reader.take(8)).buffer).getBigUint64(0, true);
  if (length > BigInt(PIECE_BYTES) * 64n)
    throw wrongInput('safetensors.invalid', `The header claims ${length} bytes.`, {
      expected: 'a .safetensors file',
    });
  const entries = readHeader(await reader.take(Number(length)));
  entries.sort((a, b) => a.from - b.from);
  let at = 0;
  for (const { name, dtype, shape, from, to } of entries) {
    if (from < at) throw wrongInput('safetensors.invalid', `Tensor ${name} overlaps another.`);
    await reader.take(from - at);
    yield* piecesOf(reader, name, dtype, shape);
    at = to;
  }
}

async function* piecesOf(
  reader: ByteReader,
  name: string,
  dtype: StorageType,
  shape: readonly number[],
): AsyncGenerator<TensorPiece> {
  const [rows = 1, ...rest] = shape;
  const vector = rest.length === 0;
  const width = rest.reduce((a, b) => a * b, 1);
  const rowBytes = width * bytesOf[dtype];
  const most = Math.max(
    PIECE_ROWS,
    Math.floor(PIECE_BYTES / Math.max(1, rowBytes) / PIECE_ROWS) * PIECE_ROWS,
  );
  const step = vector ? rows : most;
  for (let row = 0; row < rows; row += step) {
    const count = Math.min(step, rows - row);
    yield { name, shape, row, data: decode(dtype, await reader.take(count * rowBytes)) };
  }
}
