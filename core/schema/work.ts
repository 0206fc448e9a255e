/**
 * Nodes and the work that they lease. A node is a program outside the mesh that computes for it: it leases sampling requests, computes
 * completions with the version that each names, and returns them. It gets prompts as token ids, no tasks, and no prompt that holds a reference answer
 * unless its token says so (`seesGold`).
 */
import * as v from 'valibot';
import { KERNEL_ENGINES, type SamplingSettings, SMALLER_WEIGHTS } from '../policy/policy.ts';
import { WORKER_STAGES } from '../round/stages.ts';
import { packedGrammar, type TokenGrammar, unpackGrammar } from '../text/token-grammar.ts';
import { refusal } from './answers.ts';
import { count, finite, hash, positive } from './numbers.ts';
import { fileEntry, versionFile } from './policy.ts';
import { id, name, policyRef } from './sample.ts';

const tokenIds = v.array(count);

/** Most completions of one sampling request. A request of more is cut, so that several nodes can work on it. */
export const REQUEST_ROWS = 16;
/** Most sampling requests that one lease gives. */
export const LEASE_REQUESTS = 8;

/**
 * A file that a node needs to open a version: fetched by its hash, and of no use to a node that was not told the hash. It is sent as one
 * stream of bytes, also where it is stored in shards.
 */
export const leasedFile = v.object({ ...fileEntry.entries, file: versionFile, version: count });
export type LeasedFile = v.InferOutput<typeof leasedFile>;

/** The sampling settings, as they travel. */
const leasedSettings = v.looseObject({
  maxNew: positive,
  temperature: finite,
  topP: v.optional(finite),
  topK: v.optional(finite),
  stop: tokenIds,
  grammar: v.optional(packedGrammar),
});

/** What a node is asked to compute: completions of prompts by one version. */
export const samplingRequest = v.object({
  policy: policyRef,
  /** config.json and the weights of the parameter set, without its adapter. */
  config: leasedFile,
  weights: leasedFile,
  /** The adapter of the parameter set, if it has one. */
  adapter: v.exactOptional(leasedFile),
  vocabSize: positive,
  prompts: v.array(v.object({ ids: tokenIds, sampleIds: v.array(id) })),
  settings: leasedSettings,
});
export type SamplingRequest = v.InferOutput<typeof samplingRequest>;

/** The last grammars that were unpacked, by their JSON: the requests of a round share one. */
const grammars = new Map<string, TokenGrammar>();
const KEPT_GRAMMARS = 8;

/** The sampling settings of a request. Throws `grammar.packed` as `unpackGrammar` does. */
export function settingsOf({
  settings: { grammar: packed, ...settings },
}: Pick<SamplingRequest, 'settings'>): SamplingSettings {
  // What travelled as JSON has no undefined fields.
  if (!packed) return settings as SamplingSettings;
  const key = JSON.stringify(packed);
  const grammar = grammars.get(key) ?? unpackGrammar(packed);
  if (grammars.size >= KEPT_GRAMMARS) grammars.clear();
  grammars.set(key, grammar);
  return { ...settings, grammar } as SamplingSettings;
}

/** The files by which a node opens the version of a request. */
export const filesToOpen = ({ config, weights, adapter }: SamplingRequest): readonly LeasedFile[] =>
  adapter ? [config, weights, adapter] : [config, weights];

/** sha256 of the file that tells the version's weights from those of others: the adapter, where there is one. */
export const weightsHash = ({ weights, adapter }: SamplingRequest): string => (adapter ?? weights).sha256;

export const completion = v.object({
  ids: tokenIds,
  logprobs: v.array(finite),
  stopped: v.boolean(),
});

/** The engines by which a node may compute exactly what an isolate computes, as references name them; `onnx` is ONNX Runtime Web. */
export const NODE_ENGINES = ['onnx', ...KERNEL_ENGINES] as const;
export type NodeEngine = (typeof NODE_ENGINES)[number];

/**
 * Engines that come to other last digits: ONNX Runtime's native build, and WebGPU in it. They compute what any engine was asked for, in
 * float32, and take the token of a close node.
 */
export const CLOSE_ENGINES = ['onnxruntime-node', 'webgpu'] as const;
export type CloseEngine = (typeof CLOSE_ENGINES)[number];
export const isCloseEngine = (engine: NodeEngine | CloseEngine): engine is CloseEngine =>
  (CLOSE_ENGINES as readonly string[]).includes(engine);

const LEASE_ENGINES = [...NODE_ENGINES, ...CLOSE_ENGINES] as const;

/** What kind of program a node says it is; it decides nothing. */
export const NODE_KINDS = ['process', 'tab'] as const;

/**
 * How a node's results are audited, which its token says: those of an exact node are sampled again, bit by bit; those of a close node, whose
 * engine differs in the last digits, are scored again and must come within `CLOSE`.
 */
export const EXACTNESS = ['exact', 'close'] as const;
export type Exactness = (typeof EXACTNESS)[number];

/**
 * How far, in nats, a close node's log-probabilities may lie from those of the mesh's own engine: over the tokens of a request on average, and
 * at any token. The learner weights a token by at most 2, which is e^0.69, so a token within `most` is still weighted by what it deserves.
 */
export const CLOSE = { mean: 0.02, most: 0.5 } as const;

const amount = v.pipe(finite, v.minValue(0));

/**
 * How far a node's log-probabilities were from those of the mesh's own engine, over the tokens that audits scored again, nats; and how far
 * its draws were from those of the mesh after the same prompts, as core/audit/chance.ts says.
 */
export const mismatch = v.object({
  tokens: count,
  /** Sum of the absolute differences. */
  sum: amount,
  most: amount,
  /** Sum over completions of the node's surprise less that of the mesh's own draw; above 0 where the node writes likelier tokens. */
  drift: v.optional(finite, 0),
  /** Sum of the squares of these differences, nats². */
  squares: v.optional(amount, 0),
  /** How far an engine whose log-probabilities are off by `CLOSE.mean` may drift. */
  slack: v.optional(amount, 0),
});
export type Mismatch = v.InferOutput<typeof mismatch>;
export const NO_MISMATCH: Mismatch = { tokens: 0, sum: 0, most: 0, drift: 0, squares: 0, slack: 0 };

export const leaseOrder = v.strictObject({
  kind: v.picklist(NODE_KINDS),
  threads: v.pipe(positive, v.maxValue(1024)),
  engines: v.pipe(v.array(v.picklist(LEASE_ENGINES)), v.minLength(1), v.maxLength(LEASE_ENGINES.length)),
  /** The formats of weights that the node's engines hold, beside float32. */
  weights: v.pipe(v.array(v.picklist(SMALLER_WEIGHTS)), v.maxLength(SMALLER_WEIGHTS.length)),
  limit: v.pipe(positive, v.maxValue(LEASE_REQUESTS)),
  /** As many as are computed within a moment: a share that is smaller costs more calls than it spreads work. Absent = 1; above `limit` it is that. */
  least: v.exactOptional(v.pipe(positive, v.maxValue(LEASE_REQUESTS))),
  /** Whether it takes requests with a grammar, too; absent = it does not. */
  grammars: v.exactOptional(v.boolean()),
  /** Whether it takes requests whose prompts show images, too, which it fetches by their hashes; absent = it does not. */
  images: v.exactOptional(v.boolean()),
  /**
   * The only version that the node serves, where it asks a server that holds one; that takes the token of a close node. With `adapters` also
   * versions of any set that have an adapter over this one's main weights.
   */
  serves: v.exactOptional(
    v.strictObject({ name, version: count, adapters: v.exactOptional(v.literal(true)) }),
  ),
});
export type LeaseOrder = v.InferOutput<typeof leaseOrder>;

/** A lease of one or more requests; without requests there is no lease, and nothing to do now. */
export const leaseAnswer = v.object({
  node: id,
  lease: v.nullable(id),
  /** How long the lease holds from now on, without a heartbeat. */
  leaseMs: count,
  work: v.array(v.object({ id, request: samplingRequest })),
  /** Whether a round's tasks are being proposed, so that there will be much to do in a moment; absent = no. */
  soon: v.exactOptional(v.boolean()),
});
export type LeaseAnswer = v.InferOutput<typeof leaseAnswer>;

/** Names a lease: to prolong it, or to give back what is not answered. */
export const leaseName = v.strictObject({ lease: id });
export const heartbeatAnswer = v.object({ leaseMs: count, requests: count });

const hex = (digits: number) =>
  v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${digits}}$`), `Expected ${digits} hexadecimal digits`));

/** Largest body of results, in bytes: sixteen completions of four thousand tokens with their log-probabilities take less than 3 MB. */
export const RESULT_BYTES = 4 * 1024 * 1024;

/** A node's answer to one sampling request. */
export const workResult = v.strictObject({
  work: id,
  lease: id,
  /** `weightsHash` of what the node computed with. */
  weights: hash,
  /** [prompts][samples], in the order asked. */
  completions: v.array(v.array(v.strictObject(completion.entries))),
  /** Ed25519 signature by the node's key over what core/audit/work-seal.ts says, in hex. */
  seal: hex(128),
});
export type WorkResult = v.InferOutput<typeof workResult>;

export const workTaken = v.object({ work: id });

/** Answers to several requests of one lease, in one call. */
export const workResults = v.strictObject({
  lease: id,
  results: v.pipe(
    v.array(v.omit(workResult, ['lease'])),
    v.minLength(1),
    v.maxLength(LEASE_REQUESTS),
    v.check(
      (results) => new Set(results.map(({ work }) => work)).size === results.length,
      'A request is answered twice',
    ),
  ),
});
export type WorkResults = v.InferOutput<typeof workResults>;
/** What became of each: the requests whose results were taken, and why the others were not, with the status that each alone would have had. */
export const workResultsTaken = v.object({
  taken: v.array(id),
  refused: v.array(v.object({ work: id, status: count, ...refusal.entries })),
});
export type WorkResultsTaken = v.InferOutput<typeof workResultsTaken>;

/**
 * What a token may read that leases nothing: a reader what the page shows and the model endpoints answer, a verifier all that is stored, answers of
 * tasks included, so that it can train versions again.
 */
export const READING = ['reader', 'verifier'] as const;
export type Reading = (typeof READING)[number];

/** `revoked` and `shut-out` get no more work: the operator revoked the token, or an audit found that the node does not compute what it says. */
export const NODE_STATES = ['idle', 'working', 'away', 'revoked', 'shut-out', ...READING] as const;

/** A node as everybody may see it. */
export const nodeAnswer = v.object({
  id,
  name,
  state: v.picklist(NODE_STATES),
  exactness: v.optional(v.picklist(EXACTNESS), 'exact'),
  /** Whether it may be given prompts that hold reference answers. */
  seesGold: v.optional(v.boolean(), false),
  kind: v.nullable(v.picklist(NODE_KINDS)),
  threads: v.nullable(count),
  createdAt: count,
  /** When it last asked for work or returned some; null = never. */
  seenAt: v.nullable(count),
  /** What it holds now, and what it has returned so far. */
  leased: count,
  requests: count,
  samples: count,
  tokens: count,
  /** Requests that it leased and did not answer in time. */
  lost: count,
  /** Its requests that audits sampled or scored again and found right, and when last. */
  audited: count,
  auditedAt: v.nullable(count),
  /** Of a close node: how close it was so far. */
  mismatch: v.optional(mismatch, NO_MISMATCH),
  /** Why it is shut out; null = it is not. */
  reason: v.nullable(v.string()),
  /**
   * What waits although this node asks for work: it does not take it, since its release or its options do not know the engine, the format of
   * weights, grammars or images. As the requests have it, such as `kernels int8 grammar`.
   */
  leaves: v.optional(v.array(v.string()), []),
});
export type NodeAnswer = v.InferOutput<typeof nodeAnswer>;
export const nodeListing = v.object({ nodes: v.array(nodeAnswer) });

/** Who sampled how much of a round. `node` is null for the mesh's own isolates, where they took their share from the same list. */
export const roundShares = v.object({
  shares: v.array(
    v.object({
      node: v.nullable(id),
      name: v.nullable(name),
      requests: count,
      samples: count,
      leased: count,
      /** The versions that it samples the round with, and so holds. */
      versions: v.array(policyRef),
    }),
  ),
});
export type RoundShares = v.InferOutput<typeof roundShares>;

export const nodeOrder = v.strictObject({
  name,
  exactness: v.exactOptional(v.picklist(EXACTNESS)),
  /** For somebody who reads, and leases nothing. */
  reads: v.exactOptional(v.picklist(READING)),
  /** For a machine of the mesh's owner: it may lease requests whose prompts hold reference answers, too. */
  seesGold: v.exactOptional(v.boolean()),
});
export type NodeOrder = v.InferOutput<typeof nodeOrder>;
/** The token is told once, when it is made: the mesh keeps its hash and the key that checks its seals. */
export const nodeMade = v.object({ id, name, token: v.string() });
export const nodeRevoked = v.object({ id, name, released: count });
export const shutOutOrder = v.strictObject({ reason: v.pipe(v.string(), v.minLength(1), v.maxLength(500)) });
/** Rounds of which something is sampled again because the node had a part in it. */
export const nodeShutOut = v.object({ id, name, groups: count, rounds: v.array(id) });
export type NodeShutOut = v.InferOutput<typeof nodeShutOut>;

/** What nodes computed of a round, for the learner's audit. */
export const roundWork = v.object({
  nodes: v.array(
    v.object({
      id,
      name,
      exactness: v.optional(v.picklist(EXACTNESS), 'exact'),
      publicKey: hex(64),
      /** Its requests that audits found right so far; an earlier release does not say. */
      audited: v.optional(count, 0),
    }),
  ),
  work: v.array(
    v.object({
      id,
      node: id,
      lease: id,
      stage: v.picklist(WORKER_STAGES),
      /** The group; null for proposals. */
      group: v.nullable(id),
      samples: v.array(id),
      settings: leasedSettings,
      weights: hash,
      /** sha256 of the completions as core/audit/work-seal.ts writes them. */
      sha256: hash,
      seal: hex(128),
    }),
  ),
});
export type RoundWork = v.InferOutput<typeof roundWork>;

export const auditedNodes = v.strictObject({
  round: id,
  /** Requests of each node that were sampled or scored again and found right, by the node's id. */
  nodes: v.record(id, count),
  /** Of each close node, what scoring again came to, those requests included that were not right. */
  mismatch: v.optional(v.record(id, mismatch), {}),
});
export type AuditedNodes = v.InferOutput<typeof auditedNodes>;
/** Of each node of `mismatch`, what audits came to in all rounds so far. */
export const notedNodes = v.object({ mismatch: v.record(id, mismatch) });
