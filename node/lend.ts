/**
 * The loop of a node: lease requests, have them computed, seal and return the results, until told to stop. It computes nothing itself, so
 * its heartbeats go out while its threads compute; the same loop serves a process and a browser tab.
 */
import type { WorkClient } from '../api/work-client.ts';
import { rebuilt } from '../core/delta.ts';
import { RollmeshError } from '../core/errors.ts';
import type { Completion } from '../core/policy.ts';
import { deltaName } from '../core/schema/policy.ts';
import {
  filesToOpen,
  type LeaseAnswer,
  type LeasedFile,
  type LeaseOrder,
  type SamplingRequest,
  weightsHash,
} from '../core/schema/work.ts';
import { completionsSha256, type NodeIdentity } from '../core/work-seal.ts';
import type { FileBytes } from './compute.ts';

/** A thread that computes; it may open the version that a request names from the files that come with it. */
export type Compute = (
  requests: readonly SamplingRequest[],
  files: FileBytes,
) => Promise<readonly (readonly Completion[][])[]>;

/** What a node tells whoever watches it. */
export interface NodeEvents {
  readonly answered: (done: { readonly samples: number; readonly tokens: number }) => void;
  /** An answer that was refused, or a mesh that is away; the node goes on. */
  readonly trouble: (error: RollmeshError) => void;
}

export interface Lending {
  readonly client: Pick<WorkClient, 'lease' | 'heartbeat' | 'release' | 'file' | 'result'>;
  readonly identity: NodeIdentity;
  readonly order: Omit<LeaseOrder, 'threads' | 'limit'>;
  readonly threads: readonly Compute[];
  /** Which files of a request are fetched for `threads`; default: those that open the version. */
  readonly filesOf?: (request: SamplingRequest) => readonly LeasedFile[];
  readonly events: NodeEvents;
  readonly signal: AbortSignal;
  /** The longest pause between two questions while there is no work, ms. */
  readonly idleMs: number;
}

/** Requests in one lease: enough rows for an efficient batch, few enough that other nodes have some too. */
const REQUESTS = 2;
/** Leases of a thread: while it computes one, the results of the other are on their way, or the next one is. */
const LEASES = 2;
/** So long before a thread is expected to have computed what it has, its next lease is asked for: what is leased earlier, nobody else can take. */
const AHEAD_MS = 250;
const FIRST_IDLE_MS = 25;
const TROUBLE_MS = 1_000;
/** Files that are kept; a round's roles name few versions. */
const KEPT_FILES = 8;

/** @throws RollmeshError where the mesh refuses the node: a token that is unknown, revoked or shut out */
export async function lend({
  client,
  identity,
  order,
  threads,
  filesOf = filesToOpen,
  events,
  signal,
  idleMs,
}: Lending): Promise<void> {
  const files = new VersionFiles(client, filesOf);
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const asked = { ...order, threads: threads.length, limit: REQUESTS };
  try {
    await Promise.all(threads.flatMap((compute) => leases(compute)));
  } finally {
    stop();
    signal.removeEventListener('abort', stop);
    // Nothing is lost where this fails: what is held is taken back by the clock.
    await client.release().catch(() => undefined);
  }

  function leases(compute: Compute): Promise<void>[] {
    // A thread computes one lease at a time.
    let last: Promise<unknown> = Promise.resolve();
    // How long the last request took, and when what the thread has is expected to be computed.
    let requestMs = 0;
    let freeAt = 0;
    const inTurn: Compute = (requests, bytes) => {
      const turn = last.then(async () => {
        const began = Date.now();
        freeAt = began + requestMs * requests.length;
        const made = await compute(requests, bytes);
        requestMs = (Date.now() - began) / requests.length;
        return made;
      });
      last = turn.catch(() => undefined);
      return turn;
    };
    const nearlyFree = async () => {
      const wait = freeAt - Date.now() - AHEAD_MS;
      if (wait <= 0) return;
      const ended = new AbortController();
      await Promise.race([sleep(wait, AbortSignal.any([stopped.signal, ended.signal])), last]);
      ended.abort();
    };
    return Array.from({ length: LEASES }, () => leaseLoop(inTurn, nearlyFree));
  }

  async function leaseLoop(compute: Compute, nearlyFree: () => Promise<void>): Promise<void> {
    let pause = FIRST_IDLE_MS;
    while (!stopped.signal.aborted) {
      try {
        await nearlyFree();
        const leased = await client.lease(asked);
        if (leased.lease !== null) {
          await answer(leased, leased.lease, compute);
          pause = FIRST_IDLE_MS;
          continue;
        }
      } catch (error) {
        if (stopped.signal.aborted) return;
        if (!(error instanceof RollmeshError) || isFinal(error)) {
          stop();
          throw error;
        }
        events.trouble(error);
        pause = Math.max(pause, TROUBLE_MS);
      }
      await sleep(pause, stopped.signal);
      pause = Math.min(2 * pause, idleMs);
    }
  }

  async function answer({ leaseMs, work }: LeaseAnswer, lease: string, compute: Compute): Promise<void> {
    const beat = setInterval(() => {
      client.heartbeat(lease).catch((error: unknown) => {
        if (error instanceof RollmeshError) events.trouble(error);
      });
    }, leaseMs / 3);
    try {
      const requests = work.map(({ request }) => request);
      const completions = await compute(requests, await files.of(lease, requests));
      for (const [i, { id, request }] of work.entries()) {
        const made = completions[i]!;
        const flat = made.flat();
        const sealed = { work: id, lease, weights: weightsHash(request), sha256: completionsSha256(flat) };
        try {
          await client.result({
            work: id,
            lease,
            weights: sealed.weights,
            completions: made.map((row) => [...row]),
            seal: await identity.seal(sealed),
          });
          events.answered({
            samples: flat.length,
            tokens: flat.reduce((sum, { ids }) => sum + ids.length, 0),
          });
        } catch (error) {
          // Somebody else has it by now, or the first answer was heard and its echo lost.
          if (!(error instanceof RollmeshError) || error.kind !== 'give-up') throw error;
          events.trouble(error);
        }
      }
    } catch (error) {
      await client.release(lease).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(beat);
    }
  }
}

/** The mesh will refuse this node whatever it does, or the node does not work. */
const isFinal = ({ kind, code }: RollmeshError) =>
  kind === 'wrong-input' || code === 'mesh.answer' || code.startsWith('node.');

const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });

/** The files of versions, each fetched once by its hash and shared by all threads. */
class VersionFiles {
  readonly #client: Pick<WorkClient, 'file'>;
  readonly #filesOf: NonNullable<Lending['filesOf']>;
  readonly #kept = new Map<string, Promise<Uint8Array>>();

  constructor(client: Pick<WorkClient, 'file'>, filesOf: NonNullable<Lending['filesOf']>) {
    this.#client = client;
    this.#filesOf = filesOf;
  }

  async of(lease: string, requests: readonly SamplingRequest[]): Promise<FileBytes> {
    const wanted = new Map(
      requests.flatMap((request) => this.#filesOf(request).map((file) => [file.sha256, file] as const)),
    );
    const bytes = await Promise.all([...wanted.values()].map((file) => this.#get(lease, file)));
    return Object.fromEntries([...wanted.keys()].map((sha256, i) => [sha256, bytes[i]!]));
  }

  #get(lease: string, file: LeasedFile): Promise<Uint8Array> {
    const { sha256 } = file;
    const found = this.#kept.get(sha256) ?? this.#fetch(lease, file).then(shared);
    this.#kept.delete(sha256);
    this.#kept.set(sha256, found);
    found.catch(() => this.#kept.delete(sha256));
    for (const oldest of [...this.#kept.keys()].slice(0, -KEPT_FILES)) this.#kept.delete(oldest);
    return found;
  }

  /** Of a file that is made by deltas only those are fetched that the newest file which is kept lacks; without one, the anchor and all of them. */
  async #fetch(lease: string, leased: LeasedFile): Promise<Uint8Array> {
    const { file, replay, bytes } = leased;
    if (!replay) return this.#client.file(lease, leased);
    const { anchor, deltas } = replay;
    const before = [anchor, ...deltas.slice(0, -1).map(({ result: sha256 }) => ({ sha256 }))];
    const held = before.findLastIndex(({ sha256 }) => this.#kept.has(sha256));
    const from = Math.max(0, held);
    const [base, ...missing] = await Promise.all([
      this.#kept.get(before[from]!.sha256) ?? this.#client.file(lease, { file, sha256: anchor.sha256 }),
      ...deltas
        .slice(from)
        .map(({ sha256 }, i) => this.#client.file(lease, { file: deltaName(file, from + i), sha256 })),
    ]);
    const out = new Uint8Array(bytes);
    let at = 0;
    for await (const piece of rebuilt(file, replay, [base!], missing)) {
      out.set(piece, at);
      at += piece.length;
    }
    return out;
  }
}

/** The bytes where every thread reads the same copy, as far as the platform shares memory: a browser does on isolated pages only. */
function shared(bytes: Uint8Array): Uint8Array {
  if (typeof SharedArrayBuffer === 'undefined') return bytes;
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
