/** A node in the test's own process. */
import { WorkClient } from '../../api/work-client.ts';
import type { RollmeshError } from '../../core/errors.ts';
import { identityOf } from '../../core/work-seal.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { Computer } from '../../node/compute.ts';
import { type Compute, lend } from '../../node/lend.ts';

export interface InProcessNode {
  /** Ends it as a process ends on Ctrl-C. @throws what ended it before */
  readonly stop: () => Promise<void>;
  /** Ends it as SIGKILL does: nothing more is said to the mesh, and nothing given back. */
  readonly kill: () => void;
  readonly ended: Promise<void>;
  readonly troubles: string[];
}

/** What an honest node computes by. */
export function honestly(): Compute {
  const computer = new Computer(nodeEngines);
  return (requests, files) => computer.compute(requests, files);
}

export async function startNode(
  url: string,
  token: string,
  compute: Compute = honestly(),
): Promise<InProcessNode> {
  const stop = new AbortController();
  const identity = await identityOf(token);
  const troubles: string[] = [];
  let dead = false;
  const client = new WorkClient({
    url,
    token: identity.token,
    fetch: (...request) => (dead ? Promise.reject(new Error('killed')) : fetch(...request)),
  });
  const ended = lend({
    client,
    identity,
    order: {
      kind: 'process',
      engines: ['onnx', 'kernels', 'kernels-plain'],
      weights: ['int8', 'int4', 'w8a8'],
    },
    threads: [compute],
    events: { answered: () => {}, trouble: (error: RollmeshError) => troubles.push(error.code) },
    signal: stop.signal,
    idleMs: 100,
  });
  ended.catch(() => undefined);
  return {
    ended,
    troubles,
    kill: () => {
      dead = true;
      stop.abort();
    },
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}
