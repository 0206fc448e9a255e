/** Runs the kernels: it holds their module, memory and threads, and the scratch area that attention and matrix products need. */
import { wrongInput } from '../../core/errors.ts';
import { Arena } from './arena.ts';
import type { DeviceHost, KernelVariant } from './host.ts';
import { importingOwn } from './importing-own.ts';
import { type KernelFunction, ThreadPool } from './thread-pool.ts';
import { wideTilesPay } from './wide-tiles.ts';

/** Pages of 4 GiB, the limit of 32-bit addresses; they are reserved and not touched before use. */
const MAX_PAGES = 65536;
/** The first page holds the module's constants. */
const HEAP_START = 65536;

const SUM_CYCLES = 32768;
const MAX_SUM_SHARES = 16;

export interface RuntimeSettings {
  /** Threads that share each kernel, the calling one included. */
  threads: number;
  /** Use fused multiply-add where the engine has it. */
  fma: boolean;
  /** Try V8's experimental pass that turns 128-bit operations into 256-bit ones; kept only if a self-test passes and is faster. */
  revectorize: boolean;
  /** Least work that is worth a share of its own, cycles. */
  shareCycles: number;
}

export class KernelRuntime {
  readonly memory: WebAssembly.Memory;
  readonly arena: Arena;
  readonly variant: KernelVariant;
  /** True where pairs of vector operations run as one. */
  readonly wideTiles: boolean;
  readonly #host: DeviceHost;
  readonly #kernels: Record<string, KernelFunction>;
  readonly #pool: ThreadPool;
  readonly #shareCycles: number;
  #scratch: number[] = [];
  #scratchBytes = 0;

  private constructor(
    host: DeviceHost,
    memory: WebAssembly.Memory,
    variant: KernelVariant,
    wideTiles: boolean,
    kernels: Record<string, KernelFunction>,
    pool: ThreadPool,
    shareCycles: number,
  ) {
    this.#host = host;
    this.memory = memory;
    this.arena = new Arena(memory, HEAP_START, MAX_PAGES);
    this.variant = variant;
    this.wideTiles = wideTiles;
    this.#kernels = kernels;
    this.#pool = pool;
    this.#shareCycles = shareCycles;
    this.#ensureScratch(this.call('gemmScratchBytes'));
  }

  static async start(host: DeviceHost, settings: RuntimeSettings): Promise<KernelRuntime> {
    const { threads, fma, revectorize, shareCycles } = settings;
    if (!Number.isInteger(threads) || threads < 1 || threads > 64)
      throw wrongInput('learner.threads', `The CPU device cannot run on ${threads} threads.`, {
        expected: 'an integer from 1 to 64',
      });
    const paired = revectorize && host.pairOperations();
    const { binary, variant } = host.kernels(fma);
    const shared = threads > 1;
    const module = new WebAssembly.Module(shared ? binary : importingOwn(binary));
    const memory = new WebAssembly.Memory({ initial: 64, maximum: MAX_PAGES, shared });
    const abort = () => {
      throw new Error('internal: a kernel aborted.');
    };
    const { exports } = new WebAssembly.Instance(module, { env: { memory, abort } });
    const kernels = Object.fromEntries(
      Object.entries(exports).filter(
        (entry): entry is [string, KernelFunction] => typeof entry[1] === 'function',
      ),
    );
    const wideTiles = paired && wideTilesPay(kernels, memory, HEAP_START);
    kernels.setWideTiles!(Number(wideTiles));
    const pool = await ThreadPool.start({ host, module, memory, kernels, workers: threads - 1, wideTiles });
    return new KernelRuntime(host, memory, variant, wideTiles, kernels, pool, shareCycles);
  }

  get threads(): number {
    return this.#pool.threads;
  }

  /** Bytes that further arrays can take. What memory has grown to and does not use now is there again, whatever the system has left. */
  roomBytes(): number {
    const { bytes, mostBytes } = this.arena;
    return Math.min(mostBytes, this.memory.buffer.byteLength + this.#host.availableBytes()) - bytes;
  }

  /** Number of shares for a kernel of about so many cycles: one where waking threads would cost more than it saves. */
  shares(cycles: number): number {
    return this.threads === 1
      ? 1
      : Math.max(1, Math.min(4 * this.threads, Math.floor(cycles / this.#shareCycles)));
  }

  /** Number of shares for a kernel that gives one sum per share. It depends on the work only, so that no result depends on the threads. */
  sumShares(cycles: number): number {
    return Math.max(1, Math.min(MAX_SUM_SHARES, Math.floor(cycles / SUM_CYCLES)));
  }

  /** Calls a function of the module on this thread, without shares. */
  call(name: string, ...args: number[]): number {
    return this.#kernels[name]!(...args);
  }

  /** Runs a kernel of about so many cycles on as many threads as pay off. `args` are the kernel's, without part and parts. */
  run(name: string, args: readonly number[], cycles: number): void {
    this.#pool.run(name, args, this.shares(cycles));
  }

  /** Runs a kernel in exactly so many shares. */
  runShares(name: string, args: readonly number[], shares: number): void {
    this.#pool.run(name, args, shares);
  }

  /** Makes room for attention over sequences up to `length` tokens. */
  ensureAttentionScratch(length: number, headDim: number): void {
    this.#ensureScratch(this.call('attentionScratchBytes', length, headDim));
  }

  stop(): void {
    this.#pool.stop();
  }

  #ensureScratch(bytes: number): void {
    if (bytes <= this.#scratchBytes) return;
    for (const address of this.#scratch) this.arena.release(address);
    this.#scratch = Array.from({ length: this.threads }, () => this.arena.allocate(bytes));
    this.#scratchBytes = bytes;
    const [own, ...others] = this.#scratch;
    this.call('setScratch', own!);
    this.#pool.setScratch(others);
  }
}
