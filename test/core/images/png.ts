/** PNG files as a test writes them: by zlib, without the library that reads them. */
import { crc32, deflateSync } from 'node:zlib';

const bytes32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export function chunk(type: string, data: Uint8Array): Buffer {
  const whole = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([bytes32(data.length), whole, bytes32(crc32(whole))]);
}

interface Header {
  readonly width: number;
  readonly height: number;
  /** Bits of a sample; default 8. */
  readonly depth?: number;
  /** 0 grey, 2 red, green and blue, 3 palette, 4 and 6 with alpha; default 2. */
  readonly colour?: number;
  readonly interlaced?: boolean;
}

/** `lines`: the samples of each line, each after the byte of its filter. `between`: chunks before the pixels. */
export function pngFile(
  { width, height, depth = 8, colour = 2, interlaced = false }: Header,
  lines: Uint8Array,
  between: readonly Uint8Array[] = [],
): Uint8Array<ArrayBuffer> {
  const header = [bytes32(width), bytes32(height), Uint8Array.of(depth, colour, 0, 0, interlaced ? 1 : 0)];
  return new Uint8Array(
    Buffer.concat([
      Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10),
      chunk('IHDR', Buffer.concat(header)),
      ...between,
      chunk('IDAT', deflateSync(lines)),
      chunk('IEND', new Uint8Array()),
    ]),
  );
}

/** An image of red, green and blue as a file. */
export function pngOf({
  width,
  height,
  pixels,
}: {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}): Uint8Array<ArrayBuffer> {
  const lines = Array.from({ length: height }, (_, y) => [
    Uint8Array.of(0),
    pixels.subarray(3 * width * y, 3 * width * (y + 1)),
  ]);
  return pngFile({ width, height }, Buffer.concat(lines.flat()));
}
