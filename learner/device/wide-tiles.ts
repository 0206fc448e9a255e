/**
 * Decides whether to use 4 x 16 register tiles. They are twice as fast where the engine pairs 128-bit operations into 256-bit ones, and
 * slower where it does not. Both shapes multiply the same matrices; the wide one is used if it gives the same bits and is faster.
 */
import type { KernelFunction } from './thread-pool.ts';

const SIZE = 96;
const ROUNDS = 200;
/** Smallest speed-up factor that counts as more than noise. */
const MARGIN = 1.2;

/** Runs the test in the memory from `start` on (about 500 KB), and leaves the module with narrow tiles. */
export function wideTilesPay(
  kernels: Record<string, KernelFunction>,
  memory: WebAssembly.Memory,
  start: number,
): boolean {
  const scratch = start;
  const [a, b, c] = [0, 1, 2].map((i) => start + kernels.gemmScratchBytes!() + 64 + 4 * i * SIZE * SIZE) as [
    number,
    number,
    number,
  ];
  const view = (address: number): Float32Array => new Float32Array(memory.buffer, address, SIZE * SIZE);
  for (const address of [a, b])
    for (let i = 0; i < SIZE * SIZE; i++) view(address)[i] = Math.sin(i + address);
  kernels.setScratch!(scratch);
  const multiply = (): number => kernels.gemm!(SIZE, SIZE, SIZE, a, SIZE, 0, b, SIZE, 0, c, SIZE, 0, 0, 1);
  const best = { narrow: Number.POSITIVE_INFINITY, wide: Number.POSITIVE_INFINITY };
  const products: Float32Array[] = [];
  for (let round = 0; round < ROUNDS; round++)
    for (const shape of ['narrow', 'wide'] as const) {
      kernels.setWideTiles!(Number(shape === 'wide'));
      const began = performance.now();
      multiply();
      best[shape] = Math.min(best[shape], performance.now() - began);
      if (round === 0 || round === ROUNDS - 1) products.push(view(c).slice()); // before and after optimisation
    }
  kernels.setWideTiles!(0);
  const [reference] = products as [Float32Array];
  const agree = products.every((product) => product.every((x, i) => x === reference[i]));
  return agree && best.narrow > MARGIN * best.wide;
}
