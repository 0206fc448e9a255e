/** The kernels' memory, managed as a stack of areas. Going back to a mark frees the areas above it for reuse. */
import { wrongInput } from '../../core/errors.ts';

export const PAGE = 65536;
/** Areas begin after the first page, which holds the module's constants. */
export const START = PAGE;
/** Free bytes after the last area: kernels load whole vectors, so they may read past an area's end. */
const SLACK = 4096;
const ALIGNMENT = 64;

export const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

/** Addresses for areas that lie one after the other. */
export class Areas {
  #top: number;

  constructor(start: number) {
    this.#top = start;
  }

  /** Takes an area of so many bytes and returns its address. */
  take(bytes: number): number {
    const at = this.#top;
    this.#top = roundUp(at + bytes, ALIGNMENT);
    return at;
  }

  /** The current top, to which `backTo` can return. */
  get mark(): number {
    return this.#top;
  }

  backTo(mark: number): void {
    this.#top = mark;
  }
}

/** A part of a memory: the bytes from `start` to before `end`. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

const mib = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB`;

const windowTooSmall = ({ start, end }: Window, { byteLength }: { readonly byteLength: number }) =>
  start === START
    ? wrongInput(
        'kernels.memory',
        `The weights of the policy are larger than the ${mib(byteLength)} of memory that the kernels have for them here.`,
        { next: 'Sample it in 8 bits with --weights, or leave the kernels out with --engine.' },
      )
    : wrongInput(
        'kernels.memory',
        `A thread's share of its policy's memory, ${mib(end - start)} of ${mib(byteLength)}, is too small for what it computes.`,
        { next: 'Start the node with fewer --threads, or several nodes with fewer threads each.' },
      );

export class Heap extends Areas {
  readonly memory: WebAssembly.Memory;
  /** Undefined where the whole memory is the heap's own, and grows. */
  readonly #window: Window | undefined;

  /** `window`: the part of a memory of several threads that is this heap's. Without it the memory is the heap's alone, and grows as needed. */
  constructor(memory: WebAssembly.Memory, window?: Window) {
    super(window?.start ?? START);
    this.memory = memory;
    this.#window = window;
  }

  /** Takes an area of so many bytes and returns its address. Its content is undefined, and views made earlier may not reach it. */
  override take(bytes: number): number {
    const { buffer } = this.memory;
    const missing = this.#endWith(bytes) - (this.#window?.end ?? buffer.byteLength);
    if (missing > 0) {
      if (this.#window) throw windowTooSmall(this.#window, buffer);
      this.memory.grow(Math.ceil(missing / PAGE));
    }
    return super.take(bytes);
  }

  /** Whether so many bytes can be taken. */
  hasRoom(bytes: number): boolean {
    return this.#window === undefined || this.#endWith(bytes) <= this.#window.end;
  }

  #endWith(bytes: number): number {
    return roundUp(this.mark + bytes, ALIGNMENT) + SLACK;
  }

  put(data: Float32Array): number {
    const at = this.take(4 * data.length);
    this.floats(at, data.length).set(data);
    return at;
  }

  floats(at: number, length: number): Float32Array {
    return new Float32Array(this.memory.buffer, at, length);
  }

  integers(at: number, length: number): Int32Array {
    return new Int32Array(this.memory.buffer, at, length);
  }
}
