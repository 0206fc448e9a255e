/** The learner's CPU device in a thread of a browser. */
import { wrongInput } from '../../core/errors.ts';
import type { DeviceHost, KernelVariant } from './host.ts';

/** The thread's data comes by message, since a browser's thread is given none at its start. */
const threadOf = (source: string) =>
  `onmessage = ({ data: w }) => { const ready = () => postMessage('ready'); ${source} };`;

/**
 * `binaries`: the kernels' builds. Threads beside the calling one need a page that is isolated from others (its headers COOP and COEP); without, one
 * computes all, to the same bits.
 */
export const browserHost = (
  binaries: Readonly<Record<KernelVariant, Uint8Array<ArrayBuffer>>>,
): DeviceHost => ({
  threads: globalThis.crossOriginIsolated ? Math.min(8, navigator.hardwareConcurrency) : 1,
  kernels(fma) {
    const variant = fma && WebAssembly.validate(binaries.fma) ? 'fma' : 'simd';
    return { binary: binaries[variant], variant };
  },
  pairOperations: () => false,
  async startThread(source, data) {
    const url = URL.createObjectURL(new Blob([threadOf(source)], { type: 'text/javascript' }));
    const worker = new Worker(url);
    await new Promise<void>((ready, failed) => {
      worker.onmessage = () => ready();
      worker.onerror = ({ message }) => failed(new Error(`A thread of the learner failed: ${message}`));
      worker.postMessage(data);
    });
    URL.revokeObjectURL(url);
  },
  // A browser does not tell what it has left.
  availableBytes: () => Number.POSITIVE_INFINITY,
  openGpu: () =>
    Promise.reject(
      wrongInput('learner.no-gpu', 'The learner computes on the CPU in a browser.', {
        expected: 'the device cpu',
      }),
    ),
});
