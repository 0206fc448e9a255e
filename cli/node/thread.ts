/** A thread of a node in Node: computes what its process hands it. */
import { parentPort, workerData } from 'node:worker_threads';
import { keepImagesUpTo, MOST_IMAGE_BYTES } from '../../core/images/image.ts';
import type { SamplingRequest } from '../../core/schema/work.ts';
import type { SharedMemory } from '../../infer/kernels/shared-weights.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { nativeEngines } from '../../infer/node-ort-native.ts';
import { type ComputeAnswer, Computer, failureOf, READY } from '../../local/node/compute.ts';
import type { Held } from '../../local/node/weight-memories.ts';
import type { ThreadCall, ThreadData } from './threads.ts';

const { close, builds, thread, threads } = workerData as ThreadData;
/** This thread's CPU time where Node tells it, and where this thread is what computes; ms. */
const cpuMs =
  close === null && 'threadCpuUsage' in process
    ? () => {
        const { user, system } = process.threadCpuUsage();
        return (user + system) / 1000;
      }
    : undefined;
const computer = new Computer(
  close ? nativeEngines(close) : { ...nodeEngines, kernels: () => builds },
  cpuMs,
);
const asComputed = ({ policy: { engine, ...policy }, ...request }: SamplingRequest): SamplingRequest => ({
  ...request,
  policy: close ? policy : { ...policy, engine },
});
/** The memories that this thread was told of. */
const memories = new Map<number, SharedMemory>();
const sharedIn = (held: Held) =>
  Object.fromEntries(
    Object.entries(held).map(([key, { memory, id }]) => [
      key,
      { ...memories.get(memory)!, id, thread, threads },
    ]),
  );
// A call has all images of its prompts.
keepImagesUpTo(MOST_IMAGE_BYTES);
const port = parentPort;
if (!port) throw new Error('internal: this module is a thread of a node');
port.on('message', ({ call, requests, files, held, unknown }: ThreadCall) => {
  for (const [index, memory] of unknown) memories.set(index, memory);
  computer.compute(requests.map(asComputed), files, sharedIn(held)).then(
    (completions) => {
      const { generateMs } = computer;
      port.postMessage({ call, completions, generateMs } satisfies ComputeAnswer);
    },
    (error: unknown) => port.postMessage({ call, ...failureOf(error) } satisfies ComputeAnswer),
  );
});
port.postMessage(READY);
