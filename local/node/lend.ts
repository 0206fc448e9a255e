/**
 * The loop of a node: lease requests, have them computed, seal and return the results, until told to stop. It computes nothing itself, so
 * its heartbeats go out while its threads compute; the same loop serves a process and a browser tab.
 */

import { completionsSha256, type NodeIdentity } from '../../core/audit/work-seal.ts';
import { RollmeshError } from '../../core/errors.ts';
import { imagesShown } from '../../core/images/shown.ts';
import { rebuilt } from '../../core/policy/delta.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { deltaName } from '../../core/schema/policy.ts';
import {
  filesToOpen,
  LEASE_REQUESTS,
  type LeaseAnswer,
  type LeasedFile,
  type LeaseOrder,
  RESULT_BYTES,
  type SamplingRequest,
  type WorkResults,
  weightsHash,
} from '../../core/schema/work.ts';
import type { WorkClient } from '../../workers/api/work-client.ts';
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
  /** The mesh had nothing that this node takes. */
  readonly idle?: () => void;
}

export interface Lending {
  readonly client: Pick<WorkClient, 'lease' | 'heartbeat' | 'release' | 'file' | 'results'>;
  readonly identity: NodeIdentity;
  readonly order: Omit<LeaseOrder, 'threads' | 'limit' | 'least'>;
  readonly threads: readonly Compute[];
  /** Which files of a request are fetched for `threads`; default: those that open the version. */
  readonly filesOf?: (request: SamplingRequest) => readonly LeasedFile[];
  readonly events: NodeEvents;
  readonly signal: AbortSignal;
  /** The longest pause between two questions while there is no work, ms. */
  readonly idleMs: number;
}

/**
 * Requests in one lease: enough rows for an efficient batch, few enough that other nodes have some too. Where they are computed quickly, a
 * lease has as many as take so long: every call costs the mesh as much as a small request costs the node.
 */
const REQUESTS = 2;
const LEASE_MS = 2_000;
/** As many requests as take so long come in one lease although other nodes might be left without: two calls cost more than they would gain. */
const LEAST_MS = 100;
/** Leases of a thread: while it computes one, the results of the other are on their way, or the next one is. */
const LEASES = 2;
/** So long before a thread is expected to have computed what it has, its next lease is asked for: what is leased earlier, nobody else can take. */
const AHEAD_MS = 250;
/** How long after results, and after the first question that found nothing, it is asked again: what results are followed by takes the mesh a moment. */
const FIRST_IDLE_MS = 50;
/** While tasks are proposed elsewhere, the pause is this share of the time that they took so far, so that their rollouts wait no longer than that. */
const SOON_SHARE = 1 / 4;
const TROUBLE_MS = 1_000;
/** Files that are kept; a round's roles name few versions. */
const KEPT_FILES = 8;
/** Images that are kept: those of a lease, and of the ones before. */
const KEPT_IMAGES = 256;

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
  let wake = () => {};
  /** Waits so long at most, and no longer than until some results were returned or, with `free`, a thread has computed what it had. */
  const rest = async (ms: number, free: boolean) => {
    const woken = new AbortController();
    wake = () => woken.abort();
    freed = free ? wake : () => {};
    await sleep(Math.min(ms, idleMs), AbortSignal.any([stopped.signal, woken.signal]));
  };
  let freed = () => {};
  const lanes = threads.map((compute) => new Lane(compute, () => freed()));
  const answers = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  let pause = FIRST_IDLE_MS;
  /** Since when the mesh says that there will be work soon. */
  let soonSince: number | undefined;
  /** Until when the node asks for nothing, after an error. */
  let troubledUntil = 0;
  try {
    // One question at a time, for the thread that is free first: what there is none of for one, there is none of for all.
    while (!stopped.signal.aborted) {
      if (Date.now() < troubledUntil) {
        await sleep(troubledUntil - Date.now(), stopped.signal);
        continue;
      }
      const [lane] = lanes.filter(({ held }) => held < LEASES).toSorted((a, b) => a.freeAt - b.freeAt);
      const wait = lane ? lane.freeAt - Date.now() - AHEAD_MS : idleMs;
      if (!lane || wait > 0) {
        await rest(wait, true);
        continue;
      }
      try {
        const leased = await client.lease({ ...order, threads: threads.length, ...lane.size() });
        if (leased.lease !== null) {
          pause = FIRST_IDLE_MS;
          soonSince = undefined;
          hold(lane, leased, leased.lease);
          continue;
        }
        events.idle?.();
        soonSince = leased.soon ? (soonSince ?? Date.now()) : undefined;
        if (soonSince !== undefined) pause = Math.max(FIRST_IDLE_MS, SOON_SHARE * (Date.now() - soonSince));
      } catch (error) {
        note(error);
      }
      // A thread that computes has time until it is free, and what its own results are followed by is asked for after those.
      await rest(Math.max(pause, lane.freeAt - Date.now()), false);
      pause = Math.min(2 * pause, idleMs);
    }
    if (failure) throw failure.error;
    await Promise.all(answers);
  } finally {
    stop();
    signal.removeEventListener('abort', stop);
    // Nothing is lost where this fails: what is held is taken back by the clock.
    await client.release().catch(() => undefined);
  }

  function hold(lane: Lane, leased: LeaseAnswer, lease: string): void {
    lane.held++;
    const answered = answer(leased, lease, lane.compute)
      .then(() => {
        const later = setTimeout(() => {
          pause = FIRST_IDLE_MS;
          wake();
        }, FIRST_IDLE_MS);
        stopped.signal.addEventListener('abort', () => clearTimeout(later), { once: true });
      }, note)
      .finally(() => {
        lane.held--;
        answers.delete(answered);
        freed();
      });
    answers.add(answered);
  }

  /** An error after which the node goes on a while later, or ends. */
  function note(error: unknown): void {
    if (stopped.signal.aborted) return;
    if (!(error instanceof RollmeshError) || isFinal(error)) {
      failure = { error };
      stop();
      return;
    }
    events.trouble(error);
    troubledUntil = Date.now() + TROUBLE_MS;
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
      const results = await Promise.all(
        work.map(async ({ id, request }, i) => {
          const made = completions[i]!;
          const weights = weightsHash(request);
          const seal = await identity.seal({
            work: id,
            lease,
            weights,
            sha256: await completionsSha256(made.flat()),
          });
          return { work: id, weights, completions: made.map((row) => [...row]), seal };
        }),
      );
      for (const some of parted(results)) {
        const refused = await client.results({ lease, results: some });
        for (const { work: of, completions: made } of some) {
          const error = refused.get(of);
          // Somebody else has it by now, or the first answer was heard and its echo lost.
          if (error?.kind === 'give-up') events.trouble(error);
          else if (error) throw error;
          else events.answered({ samples: made.flat().length, tokens: tokensOf(made) });
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

type Results = WorkResults['results'];

const tokensOf = (completions: Results[number]['completions']) =>
  completions.flat().reduce((sum, { ids }) => sum + ids.length, 0);

/** Characters of a token with its log-probability, and of what else a completion and a result have, in JSON; at most. */
const TOKEN_CHARACTERS = 40;
const OTHER_CHARACTERS = 400;

/** Cuts results into bodies that the mesh takes; a result that is too large alone is one body. */
function parted(results: Results): Results[] {
  const parts: Results[] = [];
  let bytes = 0;
  for (const result of results) {
    const { completions } = result;
    const own = TOKEN_CHARACTERS * tokensOf(completions) + OTHER_CHARACTERS * (1 + completions.flat().length);
    bytes += own;
    if (parts.length && bytes <= RESULT_BYTES) parts.at(-1)!.push(result);
    else {
      parts.push([result]);
      bytes = own;
    }
  }
  return parts;
}

/** A thread, and what is known of its time. It computes one lease at a time. */
class Lane {
  /** Its leases whose results are not returned yet. */
  held = 0;
  /** When what it computes now is expected to be done; a moment that has passed where nothing is known, or nothing is computed. */
  freeAt = 0;
  readonly #compute: Compute;
  readonly #freed: () => void;
  /** How long the last request took. */
  #requestMs = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(compute: Compute, freed: () => void) {
    this.#compute = compute;
    this.#freed = freed;
  }

  readonly compute: Compute = (requests, bytes) => {
    const turn = this.#last.then(async () => {
      const began = Date.now();
      this.freeAt = began + this.#requestMs * requests.length;
      try {
        return await this.#compute(requests, bytes);
      } finally {
        this.#requestMs = (Date.now() - began) / requests.length;
        this.freeAt = 0;
        this.#freed();
      }
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  };

  /** How many requests its next lease may have, and how many it is to have whatever other nodes need. */
  size(): Pick<LeaseOrder, 'limit'> & { readonly least: number } {
    const within = (ms: number) => (this.#requestMs ? Math.floor(ms / this.#requestMs) : 0);
    return {
      limit: Math.min(LEASE_REQUESTS, Math.max(REQUESTS, within(LEASE_MS))),
      least: Math.min(LEASE_REQUESTS, Math.max(1, within(LEAST_MS))),
    };
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
  readonly #images = new Map<string, Promise<Uint8Array>>();

  constructor(client: Pick<WorkClient, 'file'>, filesOf: NonNullable<Lending['filesOf']>) {
    this.#client = client;
    this.#filesOf = filesOf;
  }

  async of(lease: string, requests: readonly SamplingRequest[]): Promise<FileBytes> {
    const wanted = new Map(
      requests.flatMap((request) => this.#filesOf(request).map((file) => [file.sha256, file] as const)),
    );
    const images = imagesShown(requests.flatMap(({ prompts }) => prompts.map(({ ids }) => ids)));
    const bytes = await Promise.all([
      ...[...wanted.values()].map((file) => this.#get(lease, file)),
      ...images.map((sha256) => this.#image(lease, sha256)),
    ]);
    return Object.fromEntries([...wanted.keys(), ...images].map((sha256, i) => [sha256, bytes[i]!]));
  }

  #image(lease: string, sha256: string): Promise<Uint8Array> {
    const found =
      this.#images.get(sha256) ?? this.#client.file(lease, { file: 'an image', sha256 }).then(shared);
    keepNewest(this.#images, sha256, found, KEPT_IMAGES);
    return found;
  }

  #get(lease: string, file: LeasedFile): Promise<Uint8Array> {
    const { sha256 } = file;
    const found = this.#kept.get(sha256) ?? this.#fetch(lease, file).then(shared);
    keepNewest(this.#kept, sha256, found, KEPT_FILES);
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

/** Keeps what is fetched as the newest of so many; what failed is not kept. */
function keepNewest<T>(kept: Map<string, Promise<T>>, key: string, found: Promise<T>, most: number): void {
  kept.delete(key);
  kept.set(key, found);
  found.catch(() => kept.delete(key));
  for (const oldest of [...kept.keys()].slice(0, -most)) kept.delete(oldest);
}

/** The bytes where every thread reads the same copy, as far as the platform shares memory: a browser does on isolated pages only. */
function shared(bytes: Uint8Array): Uint8Array {
  if (typeof SharedArrayBuffer === 'undefined') return bytes;
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
