/** The kernels' memory, managed as a stack of areas. The memory only grows; going back to a mark frees the areas above it for reuse. */

const PAGE = 65536;
/** Areas begin after the first page, which holds the module's constants. */
const START = PAGE;
/** Free bytes after the last area: kernels load whole vectors, so they may read past an area's end. */
const SLACK = 4096;
const ALIGNMENT = 64;

export const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

export class Heap {
  readonly memory: WebAssembly.Memory;
  #top = START;

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
  }

  /** Takes an area of so many bytes and returns its address. Its content is undefined, and views made earlier may not reach it. */
  take(bytes: number): number {
    const at = this.#top;
    this.#top = roundUp(at + bytes, ALIGNMENT);
    const missing = this.#top + SLACK - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    return at;
  }

  put(data: Float32Array): number {
    const at = this.take(4 * data.length);
    this.floats(at, data.length).set(data);
    return at;
  }

  /** The current top, to which `backTo` can return. */
  get mark(): number {
    return this.#top;
  }

  backTo(mark: number): void {
    this.#top = mark;
  }

  floats(at: number, length: number): Float32Array {
    return new Float32Array(this.memory.buffer, at, length);
  }

  integers(at: number, length: number): Int32Array {
    return new Int32Array(this.memory.buffer, at, length);
  }
}
