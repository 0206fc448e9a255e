/**
 * Files of images as pixels: PNG and JPEG, known by their first bytes. What a file says of its size is read before anything of it is inflated, and no
 * more is inflated than that. Everything is worked out in integers, or in doubles that are the same everywhere, so that a file has the same pixels on
 * every machine. What is transparent is shown on white, and a JPEG is turned as its camera was held.
 */
import { type RollmeshError, wrongInput } from '../errors.ts';
import { joinBytes } from '../text/join-bytes.ts';
import type { Image } from './image.ts';
import { orientationIn, upright } from './orientation.ts';
import { expectFewPatches } from './patches.ts';

/** The most bytes of a file. */
export const MOST_FILE_BYTES = 4 * 1024 * 1024;
/** Compressed bytes that are inflated at once: each makes at most 1032. */
const INFLATED_AT_ONCE = 1024;
/** The most scans of a JPEG, each of which may be a pass over all pixels: an encoder writes about ten. */
const MOST_SCANS = 64;

const KINDS = ['image/png', 'image/jpeg'] as const;
type ImageKind = (typeof KINDS)[number];

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const codesOf = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));
/** How the segments begin that say what the components of a JPEG are, and what they are called where they are red, green and blue. */
const [JFIF, ADOBE, RGB] = [codesOf('JFIF\0'), codesOf('Adobe'), codesOf('RGB')];
const beginsWith = (bytes: Uint8Array, begin: readonly number[]): boolean =>
  begin.every((byte, i) => bytes[i] === byte);

/** The kind of an image by its first bytes; null for other bytes. */
export function kindOf(bytes: Uint8Array): ImageKind | null {
  if (beginsWith(bytes, PNG)) return 'image/png';
  return beginsWith(bytes, [0xff, 0xd8, 0xff]) ? 'image/jpeg' : null;
}

const damaged = (what: string, cause?: unknown): RollmeshError =>
  wrongInput('image.damaged', `An image cannot be decoded: ${what}.`, {
    expected: 'a whole PNG or JPEG file',
    ...(cause === undefined ? {} : { cause }),
  });

const because = (cause: unknown): string =>
  cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause);

export const tooManyBytes = (bytes: number): RollmeshError =>
  wrongInput('image.size', `An image has ${bytes} bytes.`, {
    expected: `at most ${MOST_FILE_BYTES}`,
    next: 'Make it smaller.',
  });

/**
 * The pixels of a file. `says`: the kind that its name or its address says. Throws `image.kind` for bytes of no image, `image.type` for one of another
 * kind than it says, `image.size` for one of too many bytes or pixels, `image.bomb` for one that inflates to more than its size, and `image.damaged`.
 */
export async function decodeImage(bytes: Uint8Array, says?: string): Promise<Image> {
  if (bytes.length > MOST_FILE_BYTES) throw tooManyBytes(bytes.length);
  const kind = kindOf(bytes);
  if (!kind)
    throw wrongInput('image.kind', 'What should be an image is none.', { expected: 'a PNG or JPEG file' });
  if (says !== undefined && says !== kind && !(says === 'image/jpg' && kind === 'image/jpeg'))
    throw wrongInput('image.type', `An image says that it is ${says}, and is ${kind}.`, {
      expected: 'the type that its bytes have',
      next: 'Name it by what it is.',
    });
  return kind === 'image/png' ? readPng(bytes) : readJpeg(bytes);
}

const DATA_URL = /^data:([^;,]*);base64,/;

/** The bytes of a data URL and the kind that it says; null for another text. Throws `image.url` where they are not base64, and `image.size`. */
export function readDataUrl(text: string): { readonly bytes: Uint8Array; readonly kind: string } | null {
  const [begin, kind = ''] = DATA_URL.exec(text) ?? [];
  if (begin === undefined) return null;
  const encoded = text.slice(begin.length);
  if (encoded.length > (4 / 3) * MOST_FILE_BYTES + 4)
    throw tooManyBytes(Math.floor((3 / 4) * encoded.length));
  try {
    return { kind, bytes: Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0)) };
  } catch (cause) {
    throw wrongInput('image.url', 'The data URL of an image is not base64.', {
      expected: 'data:image/png;base64,… or data:image/jpeg;base64,…',
      cause,
    });
  }
}

const uint32 = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);

/** Chunks of a PNG that pixels depend on. All others, such as profiles that would be inflated, are left out. */
const HEEDED = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'];
/** Samples of a pixel by the colour type. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** The passes of an interlaced PNG: where each begins, and how far its pixels are apart. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

interface Chunk {
  readonly type: string;
  /** The chunk whole, with its length and its checksum. */
  readonly whole: Uint8Array;
  readonly data: Uint8Array;
}

/** The chunks of a PNG that are heeded. Throws `image.damaged` where one is cut off. */
function chunksOf(bytes: Uint8Array): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = PNG.length; ; ) {
    if (at + 12 > bytes.length) throw damaged('the file ends early');
    const end = at + 12 + uint32(bytes, at);
    if (end > bytes.length) throw damaged('the file ends early');
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const whole = bytes.subarray(at, end);
    if (HEEDED.includes(type)) chunks.push({ type, whole, data: bytes.subarray(at + 8, end - 4) });
    if (type === 'IEND') return chunks;
    at = end;
  }
}

async function readPng(bytes: Uint8Array): Promise<Image> {
  const { decodePng } = await import('./decoders.ts');
  const chunks = chunksOf(bytes);
  const [{ type, data: header } = { type: '', data: new Uint8Array() }] = chunks;
  if (type !== 'IHDR' || header.length !== 13) throw damaged('it does not begin with its size');
  const [width, height] = [uint32(header, 0), uint32(header, 4)];
  expectFewPatches(width, height);
  const [depth, colour, , , interlaced] = header.subarray(8) as unknown as [number, number, 0, 0, number];
  const channels = CHANNELS[colour];
  if (channels === undefined) throw damaged(`its colour type is ${colour}`);
  if (interlaced && depth < 8) throw damaged('it is interlaced, with less than a byte for a sample');
  const line = (pixels: number) => (pixels ? 1 + Math.ceil((pixels * channels * depth) / 8) : 0);
  const size = interlaced
    ? PASSES.reduce(
        (sum, [x, y, across, down]) =>
          sum + line(Math.ceil((width - x) / across)) * Math.max(0, Math.ceil((height - y) / down)),
        0,
      )
    : line(width) * height;
  await expectInflated(
    chunks.filter((chunk) => chunk.type === 'IDAT').map(({ data }) => data),
    size,
  );
  const whole = joinBytes([Uint8Array.from(PNG), ...chunks.map((chunk) => chunk.whole)]);
  try {
    return toImage(decodePng(whole, { checkCrc: true }), colour === 3);
  } catch (cause) {
    throw damaged(because(cause), cause);
  }
}

/** Throws `image.bomb` where the parts inflate to more than `size` bytes, and `image.damaged` where they inflate to fewer or do not inflate. */
async function expectInflated(parts: readonly Uint8Array[], size: number): Promise<void> {
  const { Unzlib } = await import('./decoders.ts');
  let inflated = 0;
  const inflater = new Unzlib(({ length }) => {
    inflated += length;
  });
  const compressed = joinBytes(parts);
  try {
    for (let at = 0; at < compressed.length && inflated <= size; at += INFLATED_AT_ONCE)
      inflater.push(
        compressed.subarray(at, at + INFLATED_AT_ONCE),
        at + INFLATED_AT_ONCE >= compressed.length,
      );
  } catch (cause) {
    throw damaged(because(cause), cause);
  }
  if (inflated > size)
    throw wrongInput('image.bomb', `An image inflates to more than the ${size} bytes that its size makes.`, {
      expected: 'as many bytes as width, height and colours come to',
      next: 'Do not trust where it came from.',
    });
  if (inflated < size) throw damaged(`it has ${inflated} of ${size} bytes`);
}

/** What fast-png gives: samples of a byte or two, or packed ones of fewer bits. */
interface Decoded {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly depth: number;
  readonly data: Uint8Array | Uint8ClampedArray | Uint16Array;
  readonly palette?: readonly (readonly number[])[];
  /** The grey, or the colour, that is transparent. */
  readonly transparency?: Uint16Array;
}

function toImage(decoded: Decoded, indexed: boolean): Image {
  const { width, height, channels, depth, data, palette, transparency } = decoded;
  const perLine = Math.ceil((width * channels * depth) / 8);
  const sample = (x: number, y: number, channel: number): number => {
    if (depth >= 8) return data[(y * width + x) * channels + channel]!;
    const bit = x * depth;
    const byte = data[y * perLine + (bit >> 3)]!;
    return (byte >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
  };
  /** A sample as a byte: the high one of two, and fewer bits spread over 0 to 255. */
  const byteOf = (value: number): number =>
    depth === 16 ? value >> 8 : depth === 8 ? value : value * (255 / ((1 << depth) - 1));
  const pixels = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const samples = Array.from({ length: channels }, (_, channel) => sample(x, y, channel));
      const colours = indexed ? palette?.[samples[0]!] : samples.map(byteOf);
      if (!colours) throw new Error(`its palette has no colour ${samples[0]}`);
      const isGrey = !indexed && channels < 3;
      const hidden = transparency?.length && transparency.every((value, i) => samples[i] === value);
      const alpha = hidden ? 0 : (colours[isGrey ? 1 : 3] ?? 255);
      for (let i = 0; i < 3; i++) pixels[3 * (y * width + x) + i] = onWhite(colours[isGrey ? 0 : i]!, alpha);
    }
  return { width, height, pixels };
}

const onWhite = (colour: number, alpha: number): number =>
  255 - Math.floor((alpha * (255 - colour) + 127) / 255);

/** What is read of a JPEG before it is decoded. */
interface Frame {
  readonly width: number;
  readonly height: number;
  /** The numbers of its components, one for each colour. */
  readonly components: readonly number[];
}

/** The frame of a JPEG, whether it holds red, green and blue as they are, how many scans it has, and its orientation. Throws `image.damaged` where a marker is cut off. */
function framesOf(
  bytes: Uint8Array,
): Frame & { readonly isRgb: boolean; readonly scans: number; readonly orientation: number } {
  let [frame, scans]: [Frame | null, number] = [null, 0];
  let orientation = 1;
  let [isJfif, adobe]: [boolean, number | undefined] = [false, undefined];
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1]!;
    // Within a scan a byte of 255 is followed by 0 or by a restart marker, neither of which has a length.
    if (bytes[at] !== 0xff || marker === 0 || (marker >= 0xd0 && marker <= 0xd7) || marker === 0xff) {
      at++;
      continue;
    }
    if (marker === 0xd9) break;
    if (marker === 0xda) scans++;
    const held = bytes.subarray(at + 4, at + 2 + 256 * bytes[at + 2]! + bytes[at + 3]!);
    if (marker === 0xe0) isJfif ||= beginsWith(held, JFIF);
    if (marker === 0xe1) orientation = orientationIn(held) ?? orientation;
    if (marker === 0xee && beginsWith(held, ADOBE)) adobe = held[ADOBE.length + 6];
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      if (frame) throw damaged('it has two sizes');
      const [depth, ...size] = held.subarray(0, 5);
      if (size.length < 4) break;
      if (depth !== 8) throw damaged(`its samples have ${depth} bits; those of 8 are read`);
      const [height, width] = [0, 2].map((i) => 256 * size[i]! + size[i + 1]!);
      const components = Array.from({ length: held[5] ?? 0 }, (_, i) => held[6 + 3 * i]!);
      frame = { width: width!, height: height!, components };
    }
    at += 4 + held.length;
  }
  if (!frame) throw damaged('it does not say its size');
  // As libjpeg reads it: what is JFIF is luminance and two chromas, and otherwise Adobe's marker or the names of the components say it.
  const isNamed = adobe === undefined ? frame.components.join() === RGB.join() : adobe === 0;
  return { ...frame, isRgb: frame.components.length === 3 && !isJfif && isNamed, scans, orientation };
}

async function readJpeg(bytes: Uint8Array): Promise<Image> {
  const { jpeg } = await import('./decoders.ts');
  const { width, height, isRgb, scans, orientation } = framesOf(bytes);
  expectFewPatches(width, height);
  if (scans > MOST_SCANS)
    throw wrongInput('image.bomb', `A JPEG has ${scans} scans.`, { expected: `at most ${MOST_SCANS}` });
  try {
    const options = { useTArray: true, formatAsRGBA: false, tolerantDecoding: false } as const;
    const colours = isRgb ? { colorTransform: false } : {};
    const limits = { maxResolutionInMP: 1, maxMemoryUsageInMB: 64 };
    const { data } = jpeg.decode(bytes, { ...options, ...colours, ...limits });
    return upright({ width, height, pixels: new Uint8Array(data) }, orientation);
  } catch (cause) {
    throw damaged(because(cause), cause);
  }
}
