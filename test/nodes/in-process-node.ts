/** A node in the test's own process. */

import { identityOf } from '../../core/audit/work-seal.ts';
import type { RollmeshError } from '../../core/errors.ts';
import type { LeaseOrder } from '../../core/schema/work.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { Computer } from '../../local/node/compute.ts';
import { type Compute, type Lending, lend } from '../../local/node/lend.ts';
import { WorkClient } from '../../workers/api/work-client.ts';

export interface InProcessNode {
  /** Ends it as a process ends on Ctrl-C. @throws what ended it before */
  readonly stop: () => Promise<void>;
  readonly ended: Promise<void>;
  readonly troubles: string[];
  /** Hashes of the files that it fetched, in their order. */
  readonly fetched: string[];
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
  /** Of a node in front of a server: what it serves, and which files it fetches. */
  { serves, filesOf }: Partial<Pick<LeaseOrder, 'serves'> & Pick<Lending, 'filesOf'>> = {},
): Promise<InProcessNode> {
  const stop = new AbortController();
  const identity = await identityOf(token);
  const troubles: string[] = [];
  const fetched: string[] = [];
  const client = new WorkClient({
    url,
    token: identity.token,
    fetch: (...request) => {
      const [, sha256] = /\/files\/[0-9a-f]+\/([0-9a-f]+)$/.exec(String(request[0])) ?? [];
      if (sha256 !== undefined) fetched.push(sha256);
      return fetch(...request);
    },
  });
  const ended = lend({
    client,
    identity,
    order: {
      kind: 'process',
      engines: ['onnx', 'kernels', 'kernels-plain'],
      weights: ['int8', 'int4', 'w8a8'],
      grammars: true,
      images: true,
      ...(serves ? { serves } : {}),
    },
    threads: [compute],
    ...(filesOf ? { filesOf } : {}),
    events: { answered: () => {}, trouble: (error: RollmeshError) => troubles.push(error.code) },
    signal: stop.signal,
    idleMs: 100,
  });
  ended.catch(() => undefined);
  return {
    ended,
    troubles,
    fetched,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}
