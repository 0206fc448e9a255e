/** A thread of a node in Node: computes what its process hands it. */
import { parentPort } from 'node:worker_threads';
import { nodeEngines } from '../../infer/node-engines.ts';
import { type ComputeAnswer, type ComputeCall, Computer } from '../../node/compute.ts';

const computer = new Computer(nodeEngines);
const port = parentPort;
if (!port) throw new Error('internal: this module is a thread of a node');
port.on('message', ({ call, requests, files }: ComputeCall) => {
  computer.compute(requests, files).then(
    (completions) => port.postMessage({ call, completions } satisfies ComputeAnswer),
    (error: unknown) =>
      port.postMessage({
        call,
        error: error instanceof Error ? error.message : String(error),
      } satisfies ComputeAnswer),
  );
});
