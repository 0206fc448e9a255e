/** The kernels' memory: a stack of areas that only grows. What lies above a mark is given up by going back to it. */

const PAGE = 65536;
/** Constants of the module lie in the first page. */
const START = PAGE;
/** Vectors are loaded whole, so that a kernel may read past an area's end. */
const SLACK = 4096;
const ALIGNMENT = 64;

export const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

export class Heap {
  readonly memory: WebAssembly.Memory;
  #top = START;

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
  }

  /** Address of so many bytes, of any content. Views made before do not reach it. */
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

  /** Everything taken so far, to go back to. */
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
