/** Starts the threads of a node. Each has an engine of its own; the bytes of a version's files are one copy that all of them read. */
import { Worker } from 'node:worker_threads';
import { RollmeshError } from '../../core/errors.ts';
import type { CloseEngine } from '../../core/schema/work.ts';
import type { Builds } from '../../infer/kernels/builds.ts';
import { loadBuilds } from '../../infer/kernels/node-builds.ts';
import { moduleFile, NODE_FLAGS } from '../../mesh/installation.ts';
import { type ComputeAnswer, READY } from '../../node/compute.ts';
import type { Compute } from '../../node/lend.ts';

export interface Thread {
  /** Resolves once it can compute; what it is to compute would wait for it. */
  readonly ready: Promise<void>;
  readonly compute: Compute;
  /** What its answers took to generate so far, without opening versions, ms: of its CPU time where Node tells that. */
  readonly generateMs: () => number;
  readonly stop: () => Promise<void>;
}

/** What a thread begins with. */
export interface ThreadData {
  /** The close engine that computes; null = the engine that a request names. */
  readonly close: CloseEngine | null;
  /** The kernels, which are compiled once for all threads. */
  readonly builds: Builds;
}

/** `close`: the close engine that computes; null = the engine that a request names. */
export function startThread(close: CloseEngine | null): Thread {
  const worker = new Worker(moduleFile('cli/node/thread'), {
    execArgv: [...NODE_FLAGS],
    workerData: { close, builds: close ? {} : { ...loadBuilds() } } satisfies ThreadData,
  });
  const waiting = new Map<
    number,
    { resolve: (answer: ComputeAnswer) => void; reject: (error: Error) => void }
  >();
  let calls = 0;
  let generateMs = 0;
  const fail = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
    worker.once('exit', () =>
      reject(new Error('internal: a thread of the node ended before it could compute')),
    );
  });
  worker.on('message', (answer: ComputeAnswer | typeof READY) => {
    if (answer === READY) return;
    waiting.get(answer.call)?.resolve(answer);
    waiting.delete(answer.call);
  });
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('internal: a thread of the node has ended')));
  return {
    ready,
    async compute(requests, files) {
      const call = calls++;
      const answer = await new Promise<ComputeAnswer>((resolve, reject) => {
        waiting.set(call, { resolve, reject });
        worker.postMessage({ call, requests, files });
      });
      if ('completions' in answer) {
        generateMs += answer.generateMs;
        return answer.completions;
      }
      throw new RollmeshError(
        'wrong-input',
        'node.compute',
        `This node cannot compute what it leased: ${answer.error}`,
        {
          next: 'The requests were given back. Use the same version of rollmesh as the mesh, or leave this engine out with --engine.',
        },
      );
    },
    generateMs: () => generateMs,
    stop: async () => {
      await worker.terminate();
    },
  };
}
