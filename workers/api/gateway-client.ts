/**
 * The client of the gateway's HTTP API (rounds, objects, versions, reports), for the learner and the commands: hono's, with the types of the
 * table of routes. Answers are checked by schema or by hash, and writes are safe to repeat, so every call may be repeated after a crash.
 */
import { createHash } from 'node:crypto';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { hc } from 'hono/client';
import * as v from 'valibot';
import { type FailureKind, RollmeshError } from '../../core/errors.ts';
import { rebuilt } from '../../core/policy/delta.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { longSha256Hex } from '../../core/random.ts';
import { type AgentAccess, agentAccess } from '../../core/schema/agent.ts';
import {
  type Committed,
  type ContentListing,
  committed,
  contentListing,
  type DeadLetter,
  deadLetterListing,
  type GroupContent,
  type GroupFailure,
  type GroupStates,
  groupListing,
  type ListedRun,
  missingTasks,
  type PolicyState,
  type PolicyVersions,
  type Pruned,
  policyListing,
  policyVersions,
  pruned,
  type RedrawnSample,
  type Replayed,
  type RoundAnswer,
  type RoundFailure,
  type RoundState,
  type RunDeleted,
  type RunLabel,
  type RunState,
  redrawnSample,
  refusal,
  replayed,
  replayListing,
  rolledBack,
  roundAnswer,
  roundState,
  runDeleted,
  runListing,
  runState,
  uploadState,
} from '../../core/schema/answers.ts';
import { parsed } from '../../core/schema/parse.ts';
import {
  deltasOf,
  type FileEntry,
  type FileSources,
  type FileStream,
  holdsWeights,
  isAdapter,
  isManifest,
  type Manifest,
  manifest,
  objectsOf,
  type StoredObject,
  seenFrom,
  type VersionFile,
  type VersionFiles,
  WHOLE_UPLOAD_BYTES,
  wholeOf,
} from '../../core/schema/policy.ts';
import type { RoundReport } from '../../core/schema/report.ts';
import { keys, MOST_AHEAD } from '../../core/schema/round.ts';
import {
  type AuditedNodes,
  type Mismatch,
  type NodeAnswer,
  type NodeOrder,
  type NodeShutOut,
  nodeListing,
  nodeMade,
  nodeRevoked,
  nodeShutOut,
  notedNodes,
  type RoundShares,
  type RoundWork,
  roundShares,
  roundWork,
} from '../../core/schema/work.ts';
import { type BackOff, fetchPatiently, PATIENT } from './back-off.ts';
import type { Gateway } from './routes.ts';
import { storeDelta } from './store-delta.ts';
import { type Send, storeFile } from './store-file.ts';
import { storeInParts } from './store-in-parts.ts';
import type { Tally } from './tally.ts';

export interface GatewayClientOptions {
  readonly url: string;
  /** The value of LEARNER_TOKEN, or a verifier's token, which reads. */
  readonly token: string;
  readonly fetch?: typeof fetch;
  readonly backOff?: BackOff;
  /** Adds up what the gateway used for each answer. */
  readonly tally?: Tally;
}

/** The header in which the gateway says what it used for an answer. */
const USED_HEADER = 'x-rollmesh-used';
const TIMEOUT_MS = 120_000;
/** Characters of a streamed event. A longer one is no word of an answer. */
const LONGEST_EVENT = 1024 * 1024;
/** A file of this size or more, such as a tokenizer of 150,000 tokens, is stored once for all versions that have it. */
const STORED_ONCE_BYTES = 1024 * 1024;
/** The number of rounds on one page of a listing. */
const PAGE = 500;
/** The number of objects of tasks that one request looks for. */
const LOOKED_FOR = 500;
/** The number of groups on one page of contents. */
const CONTENTS = 64;

const fullRounds = v.object({ rounds: v.array(roundAnswer) });
/** The fields that a listing is read for. Each of the 500 rounds of a page also has a report, which is checked where it is used. */
const listedRounds = v.object({
  rounds: v.array(v.pick(roundState, ['id', 'index', 'state'])),
});
export type ListedRound = Readonly<v.InferOutput<typeof listedRounds>['rounds'][number]>;
const reportedRounds = v.object({
  rounds: v.array(v.pick(roundState, ['index', 'version', 'report', 'createdAt', 'endedAt'])),
});
export type ReportedRound = Readonly<v.InferOutput<typeof reportedRounds>['rounds'][number]>;
const chatChunk = v.object({
  choices: v.optional(v.array(v.object({ delta: v.object({ content: v.nullish(v.string()) }) }))),
  error: v.optional(v.object({ message: v.string() })),
});
/** A request for an answer to a conversation, as `/v1/chat/completions` takes it. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly [field: string]: unknown;
}
const policyState = v.pick(policyVersions, ['name', 'current', 'next', 'versions']);

/** The kind of a gateway's error, by what the caller can do about it. 409 means that the state has changed, so read it again. */
const kindOfStatus = (status: number): FailureKind =>
  status >= 500 || status === 429
    ? 'retry'
    : status === 404
      ? 'missing-version'
      : status === 413
        ? 'over-budget'
        : status === 409
          ? 'give-up'
          : 'wrong-input';

/** What is read of an answer. */
type Answer = Promise<Pick<Response, 'url' | 'json'>>;

export class GatewayClient {
  readonly #options: GatewayClientOptions;
  readonly #gateway: ReturnType<typeof hc<Gateway>>;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
    this.#gateway = hc<Gateway>(options.url, {
      headers: { authorization: `Bearer ${options.token}` },
      fetch: (url: string | URL | Request, request?: RequestInit) => this.#send(String(url), request ?? {}),
    });
  }

  get #api() {
    return this.#gateway.api;
  }

  getRound(id: string): Promise<RoundState> {
    return read(roundState, this.#api.rounds[':id'].$get({ param: { id } }));
  }

  /** Every round of a run, newest first, read page by page. */
  async listRounds(run: string): Promise<readonly ListedRound[]> {
    const all: ListedRound[] = [];
    for (;;) {
      const before = all.length ? String(all.at(-1)!.index) : undefined;
      const query = { run, limit: String(PAGE), before };
      const { rounds } = await read(listedRounds, this.#api.rounds.$get({ query }));
      all.push(...rounds);
      if (rounds.length < PAGE) return all;
    }
  }

  /** The rounds of a run with their reports, newest first. */
  async reportedRounds(run: string): Promise<readonly ReportedRound[]> {
    const all: ReportedRound[] = [];
    for (;;) {
      const before = all.length ? String(all.at(-1)!.index) : undefined;
      const query = { run, limit: String(PAGE), before };
      const { rounds } = await read(reportedRounds, this.#api.rounds.$get({ query }));
      all.push(...rounds);
      if (rounds.length < PAGE) return all;
    }
  }

  /** The newest rounds of a run in full, among them all that are under way. */
  async roundsUnderWay(run: string): Promise<readonly RoundAnswer[]> {
    const query = { run, limit: String(MOST_AHEAD + 1) };
    return (await read(fullRounds, this.#api.rounds.$get({ query }))).rounds;
  }

  /** The rounds of all runs, newest first. */
  async newestRounds(limit = 50): Promise<readonly ListedRound[]> {
    return (await read(listedRounds, this.#api.rounds.$get({ query: { limit: String(limit) } }))).rounds;
  }

  getRun(id: string): Promise<RunState> {
    return read(runState, this.#api.runs[':id'].$get({ param: { id } }));
  }

  /** Where agents open the episodes of a run, and with which token. Throws `run.agents` where none can. */
  getAgentAccess(run: string): Promise<AgentAccess> {
    return read(agentAccess, this.#api.runs[':id'].agents.$get({ param: { id: run } }));
  }

  /** The runs, newest first. */
  async listRuns(limit = 50): Promise<readonly ListedRun[]> {
    return (await read(runListing, this.#api.runs.$get({ query: { limit: String(limit) } }))).runs;
  }

  /** Ends the run's open round and begins no other. Throws `run.unknown` if there is no such run. */
  stopRun(id: string, reason: string): Promise<RunState> {
    return read(runState, this.#api.runs[':id'].stop.$post({ param: { id }, json: { reason } }));
  }

  /** Opens a paused run again; another one stays as it is. Throws `run.unknown` if there is no such run. */
  resumeRun(id: string): Promise<RunState> {
    return read(runState, this.#api.runs[':id'].resume.$post({ param: { id } }));
  }

  /** Names, tags, hides or shows a run. Throws `run.unknown` if there is no such run. */
  labelRun(id: string, label: RunLabel): Promise<RunState> {
    return read(runState, this.#api.runs[':id'].label.$put({ param: { id }, json: label }));
  }

  /** Deletes a run with all its samples. Throws `run.open` where a round of it is under way. @returns how many objects were removed */
  async deleteRun(id: string): Promise<number> {
    let objects = 0;
    for (let left = true; left; ) {
      const answer: RunDeleted = await read(runDeleted, this.#api.runs[':id'].$delete({ param: { id } }));
      objects += answer.objects;
      left = answer.left;
    }
    return objects;
  }

  /** The groups of a round with their texts, in order, read page by page. */
  async *contentsOf(round: string): AsyncGenerator<GroupContent> {
    for (let from: number | null = 0; from !== null; ) {
      const query = { from: String(from), limit: String(CONTENTS) };
      const page: ContentListing = await read(
        contentListing,
        this.#api.rounds[':id'].contents.$get({ param: { id: round }, query }),
      );
      yield* page.groups;
      from = page.next;
    }
  }

  /** Has the mesh draw a recorded sample of a round again, and compares. */
  redrawSample(round: string, sample: string): Promise<RedrawnSample> {
    const asked = { param: { id: sample }, query: { round } };
    return read(redrawnSample, this.#api.samples[':id'].redraw.$post(asked));
  }

  async getGroups(round: string): Promise<GroupStates> {
    const answer = this.#api.rounds[':id'].groups.$get({ param: { id: round }, query: {} });
    return (await read(groupListing, answer)).groups;
  }

  /** The policy's state; null if the policy does not exist. */
  async getPolicy(name: string): Promise<PolicyState | null> {
    try {
      return await read(policyState, this.#api.policies[':name'].$get({ param: { name } }));
    } catch (error) {
      if (error instanceof RollmeshError && error.code === 'policy.unknown') return null;
      throw error;
    }
  }

  /** The policies' names in alphabetical order. */
  async listPolicies(): Promise<readonly string[]> {
    return (await read(policyListing, this.#api.policies.$get())).policies.map((policy) => policy.name);
  }

  /** The policy's versions. Throws `policy.unknown` if the policy does not exist. */
  getVersions(name: string): Promise<PolicyVersions> {
    return read(policyVersions, this.#api.policies[':name'].$get({ param: { name } }));
  }

  /** Moves a policy's pointer back and withdraws the later versions. Throws `version.unknown` if that version cannot be used. */
  async rollBack({ name, version }: PolicyRef, reason: string): Promise<void> {
    const order = { param: { name }, json: { version, reason } };
    await read(rolledBack, this.#api.policies[':name'].rollback.$post(order));
  }

  /** Removes versions that nothing names, at most fifty a call; with `dryRun` it only says which it would remove. */
  prune(
    policy: string,
    rule: { readonly keep: number; readonly withdrawnDays: number; readonly dryRun: boolean },
  ): Promise<Pruned> {
    return read(pruned, this.#api.policies[':name'].prune.$post({ param: { name: policy }, json: rule }));
  }

  /** The object's bytes. Throws `give-up` if their sha256 is not the expected one. */
  async getObject(key: string, sha256?: string): Promise<Uint8Array> {
    const headers = sha256 === undefined ? {} : { 'x-sha256': sha256 };
    const response = await this.#api.objects[':key{.+}'].$get({ param: { key } }, { headers });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (sha256 !== undefined && (await longSha256Hex(bytes)) !== sha256)
      throw new RollmeshError(
        'give-up',
        'object.hash',
        `The object ${key} has other bytes than its message says.`,
        {
          expected: `sha256 ${sha256}`,
          next: 'The group is refused; the message is kept with this reason.',
        },
      );
    return bytes;
  }

  /** The bytes of an object of tasks, whose hash the stage that reads it checks. */
  async getTasks(sha256: string): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.getObject(keys.tasks(sha256)));
  }

  /** The pixmap of an image. Throws `give-up` if it is another one. */
  async getImage(sha256: string): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.getObject(keys.tasks(sha256), sha256));
  }

  /** Those of the objects of tasks that the mesh has not stored. */
  async missingTasks(hashes: readonly string[]): Promise<string[]> {
    const missing: string[] = [];
    for (let from = 0; from < hashes.length; from += LOOKED_FOR) {
      const json = { sha256: hashes.slice(from, from + LOOKED_FOR) };
      missing.push(...(await read(missingTasks, this.#api.tasks.missing.$post({ json }))).missing);
    }
    return missing;
  }

  async putTasks(sha256: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#api.tasks[':sha256'].$put({ param: { sha256 } }, { init: { body: bytes } });
  }

  async getManifest({ name, version }: PolicyRef): Promise<Manifest> {
    const bytes = await this.getObject(keys.version(name, version, 'manifest.json'));
    return v.parse(manifest, JSON.parse(new TextDecoder().decode(bytes)));
  }

  /**
   * The named files of a version, or all of them if none is named, checked against its manifest. Throws `give-up` if `manifestHash`
   * is given and is not the manifest's hash (`manifestSha256`).
   */
  async getVersion(
    ref: PolicyRef,
    wanted?: readonly VersionFile[],
    manifestHash?: string,
  ): Promise<VersionFiles> {
    const committed = await this.getManifest(ref);
    if (manifestHash !== undefined && !(await isManifest(committed, manifestHash)))
      throw new RollmeshError(
        'give-up',
        'version.manifest',
        `The manifest of version ${ref.version} of ${ref.name} is not the one that was committed.`,
        {
          expected: `a manifest of sha256 ${manifestHash}`,
          next: 'Somebody wrote to the object store: restore the manifest, or roll back to a version before it.',
        },
      );
    const entries = (Object.entries(committed.files) as [VersionFile, FileEntry][]).filter(
      ([file]) => !wanted || wanted.includes(file),
    );
    const loaded = entries.map(
      async ([file, entry]) => [file, await this.#file(committed, file, entry)] as const,
    );
    return Object.fromEntries(await Promise.all(loaded));
  }

  async #file(of: Manifest, file: VersionFile, entry: FileEntry): Promise<Uint8Array> {
    const [first, ...rest] = objectsOf(file, entry, of.version);
    if (!rest.length) return this.#stored(of, first!);
    const bytes = new Uint8Array(entry.bytes);
    let at = 0;
    for await (const piece of this.streamFile(of, file, entry)) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  #stored({ policy }: Manifest, { name, version, sha256 }: StoredObject): Promise<Uint8Array> {
    return this.getObject(keys.version(policy, version, name), sha256);
  }

  /**
   * The bytes of a file, an object or a shard at a time, each checked; the deltas of a file are in memory meanwhile. Throws `give-up` where an object
   * is not what the manifest says, and where deltas do not make the file what `rebuilt` throws.
   */
  async *streamFile(of: Manifest, file: VersionFile, entry: FileEntry): AsyncGenerator<Uint8Array> {
    const whole = this.#pieces(of, wholeOf(file, entry, of.version));
    if (!entry.replay) return yield* whole;
    const deltas = deltasOf(file, entry, of.version).map((delta) => this.#stored(of, delta));
    yield* rebuilt(file, entry.replay, whole, await Promise.all(deltas));
  }

  async *#pieces(of: Manifest, objects: readonly StoredObject[]): AsyncGenerator<Uint8Array> {
    for (const object of objects) yield await this.#stored(of, object);
  }

  /**
   * Uploads the files, large ones shard by shard and these in parts, then commits them by their manifest, whose `files` are filled in here. It is safe to
   * repeat. Of a file that is streamed no more than a shard is in memory at once. A large file and weights under an adapter are not sent
   * again where the parent has the same. `before`: files of the parent that are to be changed by deltas where these are small (`storeDelta`).
   */
  async putVersion(
    files: FileSources,
    about: Omit<Manifest, 'files'>,
    before: VersionFiles = {},
  ): Promise<Committed> {
    const entries: Manifest['files'] = {};
    const version = this.#api.policies[':name'].versions[':n'];
    const param = { name: about.policy, n: String(about.version) };
    const send: Send = async (file, sha256, body) => {
      const headers = { 'x-sha256': sha256 };
      const calls = version.files[':file'];
      const of = { param: { ...param, file } };
      if (body.length <= WHOLE_UPLOAD_BYTES) return void (await calls.$put(of, { init: { body }, headers }));
      const { parts } = calls;
      await storeInParts(
        {
          begin: () => read(uploadState, parts.$post({ ...of, json: { bytes: body.length } }, { headers })),
          put: (part, bytes) =>
            parts[':part'].$put(
              { param: { ...of.param, part: String(part) } },
              { init: { body: bytes }, headers },
            ),
          join: () => parts.join.$post(of, { headers }),
        },
        body,
      );
    };
    const storedBefore = await this.#filesBefore(files, about, before);
    for (const [file, source] of Object.entries(files) as [VersionFile, Uint8Array | FileStream][])
      if (source)
        entries[file] =
          storedBefore.same(file, source) ??
          (await storeDelta(source, file, storedBefore.base(file), send)) ??
          (await storeFile(source, file, send));
    return read(committed, version.$put({ param, json: { ...about, files: entries } }));
  }

  /**
   * `same`: where a file that is stored once is stored already, if the parent has the same. `base`: the parent's file that a delta is made against, if
   * it is among `before`.
   */
  async #filesBefore(
    files: FileSources,
    { policy, parent }: Omit<Manifest, 'files'>,
    before: VersionFiles,
  ): Promise<{
    readonly same: (file: VersionFile, source: Uint8Array | FileStream) => FileEntry | undefined;
    readonly base: (file: VersionFile) => { bytes: Uint8Array; entry: FileEntry } | undefined;
  }> {
    const adapts = Object.keys(files).some(isAdapter);
    const isStoredOnce = (file: string, source: Uint8Array | FileStream | undefined): source is Uint8Array =>
      source instanceof Uint8Array &&
      ((adapts && holdsWeights(file)) || file in before || source.length >= STORED_ONCE_BYTES);
    if (parent === null || !Object.entries(files).some(([file, source]) => isStoredOnce(file, source)))
      return { same: () => undefined, base: () => undefined };
    const manifest = await this.getManifest({ name: policy, version: parent });
    const stored = (file: VersionFile) => {
      const entry = manifest.files[file];
      return entry && seenFrom(manifest, entry);
    };
    return {
      same: (file, source) => {
        const entry = stored(file);
        if (!entry || !isStoredOnce(file, source) || entry.bytes !== source.length) return undefined;
        const same = createHash('sha256').update(source).digest('hex') === entry.sha256;
        return same ? entry : undefined;
      },
      base: (file) => {
        const [bytes, entry] = [before[file], stored(file)];
        return bytes && entry && { bytes, entry };
      },
    };
  }

  async report(round: string, report: RoundReport): Promise<void> {
    await this.#api.rounds[':id'].report.$post({ param: { id: round }, json: report });
  }

  /** Records that the learner refuses a group, with the reason; the round goes on without the group. */
  async failGroup(round: string, group: string, failure: GroupFailure): Promise<void> {
    await this.#api.rounds[':id'].groups[':group'].failure.$post({
      param: { id: round, group },
      json: failure,
    });
  }

  /** Ends a round that the learner could not train in so many attempts. It is stored as a dead letter, which can be replayed. */
  async failRound(round: string, failure: RoundFailure): Promise<void> {
    await this.#api.rounds[':id'].failure.$post({ param: { id: round }, json: failure });
  }

  /** Makes a node; its token is told this once. Throws `node.exists` if the name is taken. */
  makeNode(name: string, more: Omit<NodeOrder, 'name'> = {}): Promise<v.InferOutput<typeof nodeMade>> {
    const order = { name, ...more };
    return read(nodeMade, this.#api.nodes.$post({ json: order }));
  }

  /** The nodes, the oldest first. */
  async listNodes(): Promise<readonly NodeAnswer[]> {
    return (await read(nodeListing, this.#api.nodes.$get())).nodes;
  }

  /** Ends a node's token; what it holds is open again. Throws `node.unknown` if there is no such node. */
  revokeNode(name: string): Promise<v.InferOutput<typeof nodeRevoked>> {
    return read(nodeRevoked, this.#api.nodes[':name'].revoke.$post({ param: { name } }));
  }

  /** Ends a node's part in the mesh for good; what it had a part in and is not trained yet is sampled again. */
  shutOutNode(id: string, reason: string): Promise<NodeShutOut> {
    const order = { param: { id }, json: { reason: reason.slice(0, 500) } };
    return read(nodeShutOut, this.#api.nodes[':id']['shut-out'].$post(order));
  }

  /** What nodes computed of a round. */
  getRoundWork(round: string): Promise<RoundWork> {
    return read(roundWork, this.#api.rounds[':id'].work.$get({ param: { id: round } }));
  }

  /** Who sampled how much of a round. */
  async getShares(round: string): Promise<RoundShares['shares']> {
    const answer = this.#api.rounds[':id'].shares.$get({ param: { id: round } });
    return (await read(roundShares, answer)).shares;
  }

  /**
   * Notes how many requests of each node an audit found right, and how close the close ones were.
   *
   * @returns what the comparisons of each close node come to in all rounds
   */
  async noteAudited(audited: AuditedNodes): Promise<Readonly<Record<string, Mismatch>>> {
    return (await read(notedNodes, this.#api.nodes.audited.$post({ json: audited }))).mismatch;
  }

  /** The dead letters, newest first; replayed ones only if `includeReplayed` is true. */
  async listDeadLetters(includeReplayed = false, limit = 500): Promise<readonly DeadLetter[]> {
    const query = { replayed: includeReplayed ? 'true' : 'false', limit: String(limit) } as const;
    return (await read(deadLetterListing, this.#api['dead-letters'].$get({ query }))).deadLetters;
  }

  async replayDeadLetter(id: string): Promise<Replayed> {
    try {
      return await read(replayed, this.#api['dead-letters'][':id'].replay.$post({ param: { id } }));
    } catch (error) {
      if (error instanceof RollmeshError && error.code === 'dead-letter.refused')
        return { id, state: 'refused', reason: error.what };
      throw error;
    }
  }

  /** Replays all dead letters, the newest first. */
  async replayDeadLetters(): Promise<readonly Replayed[]> {
    const all: Replayed[] = [];
    for (let before: string | undefined | null; before !== null; ) {
      const query = before === undefined ? {} : { before };
      const page = await read(replayListing, this.#api['dead-letters'].replay.$post({ query }));
      all.push(...page.results);
      before = page.next ?? null;
    }
    return all;
  }

  /** Asks a model for an answer to a conversation; yields the text as it comes. The body is that of `/v1/chat/completions`. */
  async *streamChat(body: ChatBody): AsyncGenerator<string> {
    const path = '/v1/chat/completions';
    const refuse = unreadable(path);
    // An answer may take as long as it likes, but not without a word for so long.
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error(`nothing came for ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    try {
      const answer = await this.#gateway.v1.chat.completions.$post(
        { json: { ...body, stream: true } },
        { init: { signal: silence.signal } },
      );
      const events = answer
        .body!.pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream({ maxBufferSize: LONGEST_EVENT }));
      for await (const { data } of events) {
        timer.refresh();
        if (data === '[DONE]') return;
        const chunk = parsed(chatChunk, JSON.parse(data), refuse);
        if (chunk.error) throw new RollmeshError('retry', 'gateway.failed', chunk.error.message);
        yield chunk.choices?.[0]?.delta.content ?? '';
      }
    } catch (error) {
      if (error instanceof RollmeshError) throw error;
      if (error instanceof SyntaxError) throw refuse(error.message);
      throw brokeOff(path, error);
    } finally {
      clearTimeout(timer);
    }
    throw brokeOff(path, 'it ended without its last event');
  }

  /** What `hc` calls in place of `fetch`. Throws the gateway's refusals. */
  async #send(address: string, init: RequestInit): Promise<Response> {
    const { url, fetch: send = fetch, backOff = PATIENT, tally } = this.#options;
    const request = async () => {
      const answer = await send(address, {
        ...init,
        signal: init.signal ?? AbortSignal.timeout(TIMEOUT_MS),
      });
      tally?.addHeader(answer.headers.get(USED_HEADER));
      return answer;
    };
    const response = await fetchPatiently(request, backOff).catch((cause: unknown) => {
      throw new RollmeshError('retry', 'gateway.unreachable', `The gateway ${url} does not answer.`, {
        next: 'See that the mesh is up.',
        cause,
      });
    });
    if (response.ok) return response;
    const said = v.safeParse(refusal, await response.json().catch(() => null));
    const { code, message, expected, next } = said.success
      ? said.output.error
      : {
          code: 'gateway.failed',
          message: `${init.method} ${pathOf(address)}: ${response.status}.`,
          expected: null,
          next: null,
        };
    throw new RollmeshError(kindOfStatus(response.status), code, message, {
      ...(expected === null ? {} : { expected }),
      ...(next === null ? {} : { next }),
    });
  }
}

/** The path of an address; all of it where it is none. */
const pathOf = (address: string) => (URL.canParse(address) ? new URL(address).pathname : address);

/** An answer's JSON by its schema. Throws `gateway.answer`. */
async function read<S extends v.GenericSchema>(schema: S, answer: Answer): Promise<v.InferOutput<S>> {
  const response = await answer;
  const refuse = unreadable(pathOf(response.url));
  const json: unknown = await response.json().catch((error: unknown) => {
    throw refuse(error instanceof Error ? error.message : String(error));
  });
  return parsed(schema, json, refuse);
}

const brokeOff = (path: string, why: unknown) =>
  new RollmeshError(
    'retry',
    'gateway.broke-off',
    `The gateway's answer to POST ${path} broke off: ${why instanceof Error ? why.message : why}.`,
    { next: 'Ask again.' },
  );

/** The error for an answer that cannot be read: the mesh is of another version, or it has stored data of an older one. */
const unreadable = (asked: string) => (why: string) =>
  new RollmeshError('give-up', 'gateway.answer', `The gateway's answer to ${asked} cannot be read: ${why}.`, {
    next: 'The mesh or what it has stored is of another version of rollmesh: deploy this version, or use the one that wrote it.',
  });
