/**
 * Best-fit allocator over one growing WebAssembly memory. Neighbouring free blocks merge, because micro-batches differ in size from
 * step to step and exact-size free lists would grow without bound.
 */
import { RollmeshError } from '../../core/errors.ts';

const PAGE_BYTES = 65536;
const ALIGN_BYTES = 64;
/** Kernels may read and write one whole vector past the end of an array. */
const SPARE_BYTES = 16;

interface Block {
  start: number;
  end: number;
}

export class Arena {
  readonly #memory: WebAssembly.Memory;
  readonly #maxPages: number;
  readonly #used = new Map<number, number>();
  /** Free blocks, sorted by address; no two are adjacent. */
  readonly #free: Block[] = [];
  /** Called when the memory has grown: views of its former buffer may be empty. */
  onGrown: () => void = () => {};
  #top: number;
  #bytes = 0;
  #peak = 0;

  /** Memory below `start` belongs to the module's constants. */
  constructor(memory: WebAssembly.Memory, start: number, maxPages: number) {
    this.#memory = memory;
    this.#top = start;
    this.#maxPages = maxPages;
  }

  /** Bytes in use now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The limit of all blocks together. */
  get mostBytes(): number {
    return this.#maxPages * PAGE_BYTES;
  }

  /** Most bytes in use at any time since the last `resetPeak`. */
  get peak(): number {
    return this.#peak;
  }

  resetPeak(): void {
    this.#peak = this.#bytes;
  }

  /** Address of `bytes` uninitialised bytes, aligned to a cache line. Throws `over-budget` at the limit of 32-bit addresses. */
  allocate(bytes: number): number {
    const size = Math.ceil((bytes + SPARE_BYTES) / ALIGN_BYTES) * ALIGN_BYTES;
    const start = this.#takeFree(size) ?? this.#grow(size);
    this.#used.set(start, size);
    this.#bytes += size;
    this.#peak = Math.max(this.#peak, this.#bytes);
    return start;
  }

  release(start: number): void {
    const size = this.#used.get(start);
    if (size === undefined) throw new Error(`internal: address ${start} is not in use.`);
    this.#used.delete(start);
    this.#bytes -= size;
    this.#giveBack(start, start + size);
  }

  #takeFree(size: number): number | undefined {
    let best = -1;
    let waste = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#free.length && waste > 0; i++) {
      const block = this.#free[i]!;
      const over = block.end - block.start - size;
      if (over >= 0 && over < waste) {
        best = i;
        waste = over;
      }
    }
    const block = this.#free[best];
    if (!block) return undefined;
    const { start } = block;
    if (waste === 0) this.#free.splice(best, 1);
    else block.start += size;
    return start;
  }

  #grow(size: number): number {
    const start = this.#top;
    const have = this.#memory.buffer.byteLength / PAGE_BYTES;
    const need = Math.ceil((start + size) / PAGE_BYTES);
    if (need > this.#maxPages) throw this.#outOfMemory(size);
    // Memory grows by at least a sixteenth, so that a growing working set does not ask the system at every tensor.
    if (need > have) this.#growBy(Math.min(Math.max(need - have, 64, have >> 4), this.#maxPages - have));
    this.#top += size;
    return start;
  }

  #growBy(pages: number): void {
    try {
      this.#memory.grow(pages);
    } catch (error) {
      throw this.#outOfMemory(pages * PAGE_BYTES, error); // the system has no more
    }
    this.onGrown();
  }

  #outOfMemory(size: number, cause?: unknown): RollmeshError {
    return new RollmeshError(
      'over-budget',
      'learner.memory',
      `The CPU device is out of memory: ${this.#bytes} bytes are in use and ${size} more are needed.`,
      {
        expected: `at most ${this.mostBytes} bytes`,
        next: 'Train an adapter (--adapter rank=16), a smaller policy or shorter answers, or use a machine with more memory.',
        cause,
      },
    );
  }

  #giveBack(start: number, end: number): void {
    let low = 0;
    for (let high = this.#free.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (this.#free[middle]!.start < start) low = middle + 1;
      else high = middle;
    }
    const before = this.#free[low - 1];
    const after = this.#free[low];
    const joinsBefore = before?.end === start;
    const joinsAfter = after?.start === end;
    if (joinsBefore && joinsAfter) {
      before.end = after.end;
      this.#free.splice(low, 1);
    } else if (joinsBefore) before.end = end;
    else if (joinsAfter) after.start = start;
    else this.#free.splice(low, 0, { start, end });
    const last = this.#free.at(-1);
    if (last?.end === this.#top) {
      this.#top = last.start;
      this.#free.pop();
    }
  }
}
