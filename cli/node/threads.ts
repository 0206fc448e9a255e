/**
 * Starts the threads of a node. The bytes of a version's files are one copy that all of them read, and so are the weights that the kernels compute over.
 * ONNX Runtime holds a copy for each thread.
 */
import { Worker } from 'node:worker_threads';
import type { RollmeshError } from '../../core/errors.ts';
import type { CloseEngine, SamplingRequest } from '../../core/schema/work.ts';
import type { Builds } from '../../infer/kernels/builds.ts';
import { loadSharedBuilds } from '../../infer/kernels/node-builds.ts';
import { givenUp, type SharedMemory } from '../../infer/kernels/shared-weights.ts';
import { moduleFile, NODE_FLAGS } from '../../local/mesh/installation.ts';
import {
  type ComputeAnswer,
  type ComputeCall,
  type ComputeFailure,
  cannotCompute,
  OPEN,
  READY,
  versionKey,
} from '../../local/node/compute.ts';
import type { Compute } from '../../local/node/lend.ts';
import { type Held, WeightMemories } from '../../local/node/weight-memories.ts';

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
  /** Which of how many threads it is. */
  readonly thread: number;
  readonly threads: number;
}

export interface ThreadCall extends ComputeCall {
  /** Where the weights are that the requests name, as far as threads share them. */
  readonly held: Held;
  /** The memories among these that the thread was not told of yet. */
  readonly unknown: readonly (readonly [index: number, memory: SharedMemory])[];
}

/** What the threads of a node say of what they cannot compute. */
const ofNode = (failure: ComputeFailure): RollmeshError =>
  cannotCompute(
    failure,
    'Use the same version of rollmesh as the mesh, or leave this engine out with --engine.',
  );

interface Shared {
  readonly memories?: WeightMemories;
  /** What is thrown where a thread cannot compute. */
  readonly failed?: (failure: ComputeFailure) => RollmeshError;
}

/** `close`: the close engine that computes; null = the engine that a request names. */
export function startThreads(
  count: number,
  close: CloseEngine | null,
  { memories = new WeightMemories(OPEN), failed = ofNode }: Shared = {},
): Thread[] {
  return Array.from({ length: count }, (_, thread) =>
    startThread(
      { close, builds: close ? {} : { ...loadSharedBuilds() }, thread, threads: count },
      memories,
      failed,
    ),
  );
}

function startThread(
  workerData: ThreadData,
  memories: WeightMemories,
  failed: NonNullable<Shared['failed']>,
): Thread {
  const worker = new Worker(moduleFile('cli/node/thread'), {
    execArgv: [...NODE_FLAGS],
    workerData,
  });
  const waiting = new Map<
    number,
    { resolve: (answer: ComputeAnswer) => void; reject: (error: Error) => void }
  >();
  const told = new Set<number>();
  let calls = 0;
  let generateMs = 0;
  let ended: Error | undefined;
  const fail = (error: Error) => {
    ended ??= error;
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
  worker.on('exit', () => {
    // Others may wait for what it was laying out.
    for (const index of told) givenUp(memories.memory(index), workerData.thread);
    fail(new Error('internal: a thread of the node has ended'));
  });
  return {
    ready,
    async compute(requests, files) {
      if (ended) throw ended;
      const call = calls++;
      const held = memories.hold(sharedKeys(workerData.close, requests));
      const unknown = Object.values(held).flatMap(({ memory }) =>
        told.has(memory) ? [] : [[memory, memories.memory(memory)] as const],
      );
      const answer = await new Promise<ComputeAnswer>((resolve, reject) => {
        waiting.set(call, { resolve, reject });
        worker.postMessage({ call, requests, files, held, unknown } satisfies ThreadCall);
        for (const [index] of unknown) told.add(index);
      }).finally(() => memories.release(held));
      if ('completions' in answer) {
        generateMs += answer.generateMs;
        return answer.completions;
      }
      const { call: _, ...failure } = answer;
      throw failed(failure);
    },
    generateMs: () => generateMs,
    stop: async () => {
      await worker.terminate();
    },
  };
}

/** The versions of requests whose weights threads share: those of the kernels. */
const sharedKeys = (close: CloseEngine | null, requests: readonly SamplingRequest[]): string[] => [
  ...new Set(requests.flatMap((request) => (request.policy.engine && !close ? [versionKey(request)] : []))),
];
