/** A thread of a node in Node: computes what its process hands it. */
import { parentPort, workerData } from 'node:worker_threads';
import type { CloseEngine, SamplingRequest } from '../../core/schema/work.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { nativeEngines } from '../../infer/ort-native.ts';
import { type ComputeAnswer, type ComputeCall, Computer, READY } from '../../node/compute.ts';

/** The close engine that computes, whatever engine a request names; null = the engine that it names. */
const close = workerData as CloseEngine | null;
const computer = new Computer(close ? nativeEngines(close) : nodeEngines);
const asComputed = ({ policy: { engine, ...policy }, ...request }: SamplingRequest): SamplingRequest => ({
  ...request,
  policy: close ? policy : { ...policy, engine },
});
const port = parentPort;
if (!port) throw new Error('internal: this module is a thread of a node');
port.on('message', ({ call, requests, files }: ComputeCall) => {
  computer.compute(requests.map(asComputed), files).then(
    (completions) => port.postMessage({ call, completions } satisfies ComputeAnswer),
    (error: unknown) =>
      port.postMessage({
        call,
        error: error instanceof Error ? error.message : String(error),
      } satisfies ComputeAnswer),
  );
});
port.postMessage(READY);
