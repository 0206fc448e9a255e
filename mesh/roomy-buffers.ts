/**
 * Keeps Miniflare's start short. It writes workerd's configuration, with some 60 MB of wasm in it, into one buffer that its
 * encoder enlarges by 4 KB at a time, copying all of it: three seconds of a start. While it starts, large buffers are made
 * half again as large as asked for; what is too much at the end is cut off by v8-flags.ts.
 */

/** Smaller buffers are made as they are asked for, bytes. */
const LARGE = 1 << 20;

const Plain = ArrayBuffer;

/** `new ArrayBuffer(bytes)` with room; everything else about the class is as ever. */
const Roomy = new Proxy(Plain, {
  construct(target, args: [bytes: number, ...options: unknown[]], asked) {
    const [bytes, ...options] = args;
    const room = bytes > LARGE && options.length === 0 ? Math.ceil((bytes * 1.5) / 8) * 8 : bytes;
    return Reflect.construct(target, [room, ...options], asked);
  },
});

/** Runs `start` with room in large buffers. */
export async function withRoomyBuffers<T>(start: () => Promise<T>): Promise<T> {
  Object.assign(globalThis, { ArrayBuffer: Roomy });
  try {
    return await start();
  } finally {
    Object.assign(globalThis, { ArrayBuffer: Plain });
  }
}
