/** A thread of a node in Node: computes what its process hands it. */
import { parentPort, workerData } from 'node:worker_threads';
import type { SamplingRequest } from '../../core/schema/work.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { nativeEngines } from '../../infer/ort-native.ts';
import { type ComputeAnswer, type ComputeCall, Computer, READY } from '../../node/compute.ts';
import type { ThreadData } from './threads.ts';

const { close, builds } = workerData as ThreadData;
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
const port = parentPort;
if (!port) throw new Error('internal: this module is a thread of a node');
port.on('message', ({ call, requests, files }: ComputeCall) => {
  computer.compute(requests.map(asComputed), files).then(
    (completions) => {
      const { generateMs } = computer;
      port.postMessage({ call, completions, generateMs } satisfies ComputeAnswer);
    },
    (error: unknown) =>
      port.postMessage({
        call,
        error: error instanceof Error ? error.message : String(error),
      } satisfies ComputeAnswer),
  );
});
port.postMessage(READY);
