/** Instantiates the kernels. The signatures are in assembly/. */
import { Heap } from './heap.ts';

const NAMES = [
  'appendRows',
  'appendTokens',
  'attendPrompt',
  'attendSamples',
  'attentionWords',
  'copyCache',
  'draw',
  'embed',
  'embedInt8',
  'fillRows',
  'gate',
  'gateGelu',
  'linear',
  'linearInt8',
  'normHeads',
  'packPanels',
  'probeDot',
  'probeMadd',
  'quantizeRows',
  'quantizeRowsTwice',
  'quantizeWeights',
  'rmsNorm',
  'rotate',
  'scaleAdd',
  'score',
  'setScratch',
  'setWideTiles',
] as const;

export type Kernels = Readonly<Record<(typeof NAMES)[number], (...args: number[]) => number>>;

export interface KernelInstance {
  readonly kernels: Kernels;
  readonly heap: Heap;
}

/** 4 GiB, the most that 32-bit addresses reach. Pages are only reserved, and not touched before they are used. */
export const MAX_PAGES = 65536;

/** `heap`: by default one whose memory is this instance's alone. */
export function instantiate(
  module: WebAssembly.Module,
  heap = new Heap(new WebAssembly.Memory({ initial: 2, maximum: MAX_PAGES })),
): KernelInstance {
  const { memory } = heap;
  const abort = () => {
    throw new Error('internal: a kernel aborted.');
  };
  const { exports } = new WebAssembly.Instance(module, { env: { memory, abort } });
  const kernels = Object.fromEntries(
    NAMES.map((name) => {
      const kernel = exports[name];
      if (typeof kernel !== 'function') throw new Error(`internal: the kernels lack ${name}.`);
      return [name, kernel];
    }),
  ) as Kernels;
  return { kernels, heap };
}
