/** The thread of a node in a browser tab: one of its engines in a Web Worker. It stores nothing. */
import { SMALLER_WEIGHTS } from '../../core/policy/policy.ts';
import type { LeaseOrder, SamplingRequest } from '../../core/schema/work.ts';
import { browserEngines } from '../../infer/browser-engines.ts';
import type { Engines } from '../../infer/engines.ts';
import type { Build } from '../../infer/kernels/builds.ts';
import { type ComputeAnswer, type ComputeCall, Computer, failureOf } from './compute.ts';
import { gpuEngines, wasmEngines } from './tab-runtimes.ts';

/** The engines that the page offers. */
export const TAB_ENGINES = ['any', 'kernels', 'onnx', 'webgpu'] as const;
export type TabEngine = (typeof TAB_ENGINES)[number];

/** What the thread says first: the work that it computes, or why it cannot. */
export type TabReady =
  | { readonly order: Pick<LeaseOrder, 'engines' | 'weights' | 'grammars' | 'images'> }
  | { readonly problem: string };

interface Opened {
  readonly engines: Engines;
  readonly order: Pick<LeaseOrder, 'engines' | 'weights' | 'grammars' | 'images'>;
}

/** What a policy may take of a tab's memory, of which a browser tells nothing that can be relied on. */
const TAB_BYTES = 512 * 1024 * 1024;

async function fetchBuild(build: Build): Promise<ArrayBuffer> {
  const response = await fetch(`/node/infer-${build}.wasm`, { cache: 'no-store' });
  if (!response.ok) throw new Error(`This mesh does not serve infer-${build}.wasm.`);
  return response.arrayBuffer();
}

/** The project's own kernels, in the forms of arithmetic that this browser computes with the bits of every other host. */
async function openOwnKernels(): Promise<Opened> {
  const { engines, forms } = await browserEngines(fetchBuild, TAB_BYTES);
  return {
    engines,
    order: {
      engines: [
        ...(forms.includes('fused') ? (['kernels'] as const) : []),
        ...(forms.includes('plain') ? (['kernels-plain'] as const) : []),
      ],
      weights: (['int8', 'w8a8'] as const).filter((weights) => forms.includes(weights)),
      grammars: true,
      images: true,
    },
  };
}

/** All that computes the mesh's own bits here. A run of kernels is never ordered with weights that they do not hold. */
async function openAny(): Promise<Opened> {
  const { engines, order } = await openOwnKernels();
  let onnx: Promise<Engines> | undefined;
  return {
    engines: {
      ...engines,
      // Fetched with the first work that needs it.
      onnx: async () => {
        onnx ??= wasmEngines();
        return (await onnx).onnx();
      },
    },
    order: {
      ...order,
      engines: ['onnx', ...order.engines],
      weights: SMALLER_WEIGHTS.filter((form) => form === 'int4' || order.weights.includes(form)),
    },
  };
}

const OPEN: Readonly<Record<TabEngine, () => Promise<Opened>>> = {
  any: openAny,
  kernels: openOwnKernels,
  onnx: async () => ({
    engines: await wasmEngines(),
    order: { engines: ['onnx'], weights: [...SMALLER_WEIGHTS], grammars: true, images: true },
  }),
  webgpu: async () => ({
    engines: await gpuEngines(),
    order: { engines: ['webgpu'], weights: [], images: true },
  }),
};

/** A close engine computes what it leases, whatever engine that names. */
const asComputed = ({ policy: { engine: _, ...policy }, ...request }: SamplingRequest): SamplingRequest => ({
  ...request,
  policy,
});

async function start(engine: TabEngine): Promise<void> {
  const { engines, order } = await OPEN[engine]();
  const computer = new Computer(engines);
  addEventListener('message', ({ data }: MessageEvent<ComputeCall>) => {
    const { call, requests, files } = data;
    computer.compute(engine === 'webgpu' ? requests.map(asComputed) : requests, files).then(
      (completions) => {
        const { generateMs } = computer;
        postMessage({ call, completions, generateMs } satisfies ComputeAnswer);
      },
      (error: unknown) => postMessage({ call, ...failureOf(error) } satisfies ComputeAnswer),
    );
  });
  postMessage({ order } satisfies TabReady);
}

// The page names the thread by the engine that it is to compute with.
start(self.name as TabEngine).catch((error: unknown) =>
  postMessage({ problem: error instanceof Error ? error.message : String(error) } satisfies TabReady),
);
