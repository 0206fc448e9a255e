/**
 * One copy of a version's weights for several threads, which share the memory of its kernels: the weights lie at its beginning, laid out by the
 * thread that needs them first while the others wait, and above them each thread has a window for all that it computes. The memory has its full size
 * from the start and never grows, so that what one thread does changes nothing for the others.
 */
import { PAGE, START, type Window } from './heap.ts';
import { MAX_PAGES } from './kernels.ts';

export interface SharedMemory {
  readonly memory: WebAssembly.Memory;
  /** [how far the weights are, the pages up to their end]. */
  readonly state: Int32Array;
}

export interface SharedWeights extends SharedMemory {
  /** Another for each version that the memory comes to hold. */
  readonly id: number;
  /** Which of how many threads asks. */
  readonly thread: number;
  readonly threads: number;
}

type Place = Pick<SharedWeights, 'state' | 'thread'>;

const STATE = 0;
const END = 1;
const EMPTY = 0;
const READY = 1;
/** A thread lays them out: the first of these states is thread 0's, and so on. */
const IN_WORK = 2;

/** 64 MiB. */
const LEAST_PAGES = 1024;

/** A memory of 4 GiB, or of a half, a quarter, … where the host gives no more. Only what is written takes any of the machine's memory. */
export function newSharedMemory(): SharedMemory {
  for (let pages = MAX_PAGES; ; pages /= 2)
    try {
      const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
      return { memory, state: new Int32Array(new SharedArrayBuffer(8)) };
    } catch (error) {
      if (!(error instanceof RangeError) || pages <= LEAST_PAGES) throw error;
    }
}

/** Says that a memory holds nothing, so that it can take another version. No thread may be using it. */
export function empty({ state }: SharedMemory): void {
  Atomics.store(state, STATE, EMPTY);
}

/** True if the weights are to be laid out by the caller, who then calls `layOutEnded`. Otherwise waits until another thread has done so. */
export function isToLayOut({ state, thread }: Place): boolean {
  for (;;) {
    const found = Atomics.compareExchange(state, STATE, EMPTY, IN_WORK + thread);
    if (found < IN_WORK) return found === EMPTY;
    Atomics.wait(state, STATE, found);
  }
}

/** `end`: the first address after the weights; undefined if laying them out has failed, so that another thread may try. */
export function layOutEnded({ state, thread }: Place, end?: number): void {
  if (end !== undefined) state[END] = Math.ceil(end / PAGE);
  Atomics.compareExchange(state, STATE, IN_WORK + thread, end === undefined ? EMPTY : READY);
  Atomics.notify(state, STATE);
}

/** Has another thread lay the weights out where this one has ended while it did. */
export const givenUp = ({ state }: SharedMemory, thread: number): void => layOutEnded({ state, thread });

/** Where the weights are laid out: all of the memory, since nobody else uses it yet. */
export const wholeOf = ({ memory }: SharedMemory): Window => ({
  start: START,
  end: memory.buffer.byteLength,
});

/** The thread's own part of the memory. */
export function windowOf({ memory, state, thread, threads }: SharedWeights): Window {
  const weightsEnd = state[END]! * PAGE;
  const size = PAGE * Math.floor((memory.buffer.byteLength - weightsEnd) / threads / PAGE);
  const start = weightsEnd + thread * size;
  return { start, end: start + size };
}
