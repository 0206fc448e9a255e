/**
 * Makes Miniflare start faster. Miniflare writes workerd's configuration, with the code of the Workers in it, some 8 MB, into one buffer,
 * which its encoder enlarges by 4 KB at a time, copying all of it. So during the start, large buffers
 * are made half again as large as asked for, and the excess is cut off before workerd gets the configuration.
 */
import { Runtime } from 'miniflare';

/** Buffers of up to this many bytes are made exactly as asked for. */
const LARGE = 1 << 20;
const WORD = 8;

const Plain = ArrayBuffer;

/** `ArrayBuffer` whose `new ArrayBuffer(bytes)` makes large buffers larger; everything else about the class is unchanged. */
const Roomy = new Proxy(Plain, {
  construct(target, args: [bytes: number, ...options: unknown[]], asked) {
    const [bytes, ...options] = args;
    const room = bytes > LARGE && options.length === 0 ? Math.ceil((bytes * 1.5) / WORD) * WORD : bytes;
    return Reflect.construct(target, [room, ...options], asked);
  },
});

/** Cuts off what follows a Cap'n Proto message. Its header gives the number of words of each segment (https://capnproto.org/encoding.html). */
export function withoutRoom(message: Buffer): Buffer {
  const segments = message.readUInt32LE(0) + 1;
  const header = Math.ceil((4 + 4 * segments) / WORD) * WORD;
  let words = 0;
  for (let i = 0; i < segments; i++) words += message.readUInt32LE(4 + 4 * i);
  return message.subarray(0, header + words * WORD);
}

let installed = false;

function install(): void {
  if (installed) return;
  installed = true;
  const { updateConfig } = Runtime.prototype;
  Runtime.prototype.updateConfig = function (configuration, ...rest) {
    return updateConfig.call(this, withoutRoom(configuration), ...rest);
  };
}

/** Runs `start` while large buffers are made larger than asked for. */
export async function withRoomyBuffers<T>(start: () => Promise<T>): Promise<T> {
  install();
  Object.assign(globalThis, { ArrayBuffer: Roomy });
  try {
    return await start();
  } finally {
    Object.assign(globalThis, { ArrayBuffer: Plain });
  }
}
