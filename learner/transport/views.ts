/** What the gateway answers to the learner. Fields that the learner does not use are dropped. */
import * as v from 'valibot';
import { USAGE_STAGES, usageCounts } from '../../core/cost/usage.ts';
import { roundSpec } from '../../core/schema/round.ts';
import { id, name } from '../../core/schema/sample.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const roundState = v.object({
  id,
  run: id,
  index: count,
  stage: v.picklist(['proposing', 'solving', 'training', 'done', 'failed']),
  spec: roundSpec,
  /** Groups admitted, and what became of them. */
  expected: count,
  proposed: count,
  /** Of the proposals' object; null for rounds that were admitted before it was noted. */
  proposalsSha256: v.optional(v.nullable(v.string()), null),
  groups: v.object({ rolling: count, scored: count, trained: count, failed: count }),
  /** Failed groups with the reason. */
  failures: v.optional(
    v.array(v.object({ group: id, failure: v.nullable(v.object({ code: v.string() })) })),
    [],
  ),
  reason: v.nullable(v.string()),
  version: v.nullable(count),
  report: v.unknown(),
  /** What the platform gave for the round, by stage; null where nothing was noted. */
  usage: v.optional(v.nullable(v.object({ stages: v.record(v.picklist(USAGE_STAGES), usageCounts) })), null),
  createdAt: count,
  solvingAt: v.nullable(count),
  trainingAt: v.nullable(count),
  endedAt: v.nullable(count),
});
export type RoundState = v.InferOutput<typeof roundState>;

export const policyState = v.object({
  name,
  current: count,
  /** The number that the next version must have. */
  next: count,
});
export type PolicyState = v.InferOutput<typeof policyState>;

/** A policy as the listing shows it, and its versions, newest first (the newest 200). */
export const policyListing = v.object({
  policies: v.array(v.object({ name, current: count, updatedAt: count })),
});
export const policyVersions = v.object({
  ...policyState.entries,
  updatedAt: count,
  versions: v.array(
    v.object({
      version: count,
      parent: v.nullable(count),
      round: v.nullable(id),
      /** Of all its files. */
      bytes: count,
      createdAt: count,
      /** Why it must not be used any more; null = it may be. */
      withdrawn: v.nullable(v.string()),
      /** When retention removed its files; null = they are there. */
      prunedAt: v.optional(v.nullable(count), null),
    }),
  ),
});
export type PolicyVersions = v.InferOutput<typeof policyVersions>;

export const rolledBack = v.object({ policy: name, current: count });

/** What a retention rule found, oldest version first, and what it removed in this call. */
export const pruned = v.object({
  policy: name,
  dryRun: v.boolean(),
  /** Every version that had its files; `kept` says why it keeps them, null = nothing names it. */
  versions: v.array(v.object({ version: count, bytes: count, kept: v.nullable(v.string()) })),
  removed: v.array(v.object({ policy: name, version: count, bytes: count })),
});
export type Pruned = v.InferOutput<typeof pruned>;

export const runState = v.object({
  id,
  target: count,
  /** `stopped`: its last round failed; a webhook opens it again. */
  state: v.picklist(['open', 'stopped']),
});
export type RunState = v.InferOutput<typeof runState>;

export const runListing = v.object({
  runs: v.array(
    v.object({
      ...runState.entries,
      settings: v.object({ recipe: v.string(), policy: name, seed: v.number() }),
      createdAt: count,
    }),
  ),
});
export type ListedRun = v.InferOutput<typeof runListing>['runs'][number];

export const groupStates = v.object({
  groups: v.array(
    v.object({
      group: id,
      index: count,
      state: v.picklist(['rolling', 'scored', 'trained', 'failed']),
      sha256: v.nullable(v.string()),
      /** The mesh's seal; null until the group is scored. */
      mac: v.optional(v.nullable(v.string()), null),
    }),
  ),
});
export type GroupStates = v.InferOutput<typeof groupStates>['groups'];

export const committed = v.object({ version: count, created: v.boolean(), nextRound: v.nullable(id) });
export type Committed = v.InferOutput<typeof committed>;

export const deadLetter = v.object({
  id,
  /** The stage it was for. */
  queue: v.string(),
  attempts: count,
  kind: v.string(),
  code: v.string(),
  cause: v.string(),
  round: v.nullable(id),
  group: v.nullable(id),
  at: count,
  replayedAt: v.nullable(count),
});
export type DeadLetter = v.InferOutput<typeof deadLetter>;

/** `refused`: its round has moved on; the letter is kept. */
export const replayed = v.object({
  id,
  state: v.picklist(['sent', 'refused']),
  reason: v.optional(v.string()),
});
export type Replayed = v.InferOutput<typeof replayed>;

export const refusal = v.object({
  error: v.object({
    code: v.string(),
    message: v.string(),
    expected: v.nullable(v.string()),
    next: v.nullable(v.string()),
  }),
});
