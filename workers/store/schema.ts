/**
 * The tables of the mesh's state in D1: runs, their rounds, one row for each group, policies and dead letters. Objects (proposals,
 * rollouts, weights) are in R2. Nothing here is needed to read them; the tables only say what exists and what is due.
 */
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { FailureKind } from '../../core/errors.ts';
import {
  GROUP_STATES,
  ROUND_STATES,
  RUN_STATES,
  USAGE_STAGES,
  WORKER_STAGES,
} from '../../core/round/stages.ts';
import { EPISODE_STATES, type SeatRewards, type TurnRewards } from '../../core/schema/agent.ts';
import type { GroupFailure, RunLabel } from '../../core/schema/answers.ts';
import type { MissingReward } from '../../core/schema/missing-reward.ts';
import type { RoundReport } from '../../core/schema/report.ts';
import type { RoleBinding, RoundSpec, RunSettings } from '../../core/schema/round.ts';
import { EXACTNESS, NODE_KINDS, READING, type SamplingRequest } from '../../core/schema/work.ts';

export type { GroupFailure as Failure };

export const runs = sqliteTable('runs', {
  id: text().primaryKey(),
  settings: text({ mode: 'json' }).$type<RunSettings>().notNull(),
  /** The recipe's roles in the order in which they act, and the weights they use. A run keeps those it began with. */
  roles: text({ mode: 'json' }).$type<Readonly<Record<string, RoleBinding>>>().notNull(),
  /** Index of the last round that is wanted. */
  target: integer().notNull(),
  /** A failed round stops its run; the next webhook opens it again. A run is paused where the local mesh was ended before it: nothing of it is played until it is resumed. */
  state: text({ enum: RUN_STATES }).notNull(),
  createdAt: integer('created_at').notNull(),
  /** What a person calls it; null = nothing was said. */
  label: text({ mode: 'json' }).$type<RunLabel>(),
  /** When an agent was last told that the run is over; null = none was. */
  agentsToldAt: integer('agents_told_at'),
  /** When it was deleted: its samples are gone, and it goes on no more. The row stays, since versions name its rounds. */
  deletedAt: integer('deleted_at'),
});

export const rounds = sqliteTable(
  'rounds',
  {
    id: text().primaryKey(),
    run: text().notNull(),
    index: integer('idx').notNull(),
    spec: text({ mode: 'json' }).$type<RoundSpec>().notNull(),
    state: text({ enum: ROUND_STATES }).notNull(),
    /** The number of groups admitted; known from state `rollout` on. */
    expected: integer().notNull().default(0),
    /** The number of proposals written, valid or not. */
    proposed: integer().notNull().default(0),
    /** The sha256 of the proposals' object. It is part of each group's seal (MAC). */
    proposalsSha256: text('proposals_sha256'),
    /** Why it failed. */
    reason: text(),
    /** The version that the round made. */
    version: integer(),
    report: text({ mode: 'json' }).$type<RoundReport>(),
    /** Times are ms since 1970. `touchedAt` is the last sign of progress: the clock re-drives a round that shows none. */
    createdAt: integer('created_at').notNull(),
    rolloutAt: integer('rollout_at'),
    trainingAt: integer('training_at'),
    endedAt: integer('ended_at'),
    touchedAt: integer('touched_at').notNull(),
    redrives: integer().notNull().default(0),
    /** How often a part of it was begun again because a node was shut out. What was made before of the parts that had not ended counts no more. */
    attempt: integer().notNull().default(0),
    /** When the callback accepted the news of its end. */
    toldAt: integer('told_at'),
    /** When it was sent as a trace. */
    tracedAt: integer('traced_at'),
  },
  (t) => [uniqueIndex('rounds_of_run').on(t.run, t.index), index('rounds_by_state').on(t.state)],
);

/** There is no index but the key, so at most 5 rows are written for a group (key and row when admitted, row when scored, row when trained). */
export const groups = sqliteTable(
  'groups',
  {
    round: text().notNull(),
    id: text().notNull(),
    index: integer('idx').notNull(),
    task: text().notNull(),
    proposal: text(),
    state: text({ enum: GROUP_STATES }).notNull(),
    /** The sha256 of the scored object's bytes. */
    sha256: text(),
    /** The mesh's seal (MAC), as it was sent to the learner. */
    mac: text(),
    failure: text({ mode: 'json' }).$type<GroupFailure>(),
  },
  (t) => [primaryKey({ columns: [t.round, t.id] })],
);

export const policies = sqliteTable('policies', {
  name: text().primaryKey(),
  /** The current version. This pointer moves last, by compare-and-set. */
  current: integer().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const versions = sqliteTable(
  'versions',
  {
    policy: text().notNull(),
    version: integer().notNull(),
    parent: integer(),
    round: text(),
    /** The total size in bytes of the files that it stores itself. */
    bytes: integer().notNull(),
    /** The other versions that store files of this one, a JSON array; null where it stores all of them itself. */
    elsewhere: text(),
    /** `manifestSha256` of its manifest. */
    manifestSha256: text('manifest_sha256').notNull(),
    /** `weightsSha256` of its manifest: equal where two versions have the same weights. */
    weightsSha256: text('weights_sha256').notNull(),
    createdAt: integer('created_at').notNull(),
    /** Why it must not be used any more; null if it may be used. */
    withdrawn: text(),
    withdrawnAt: integer('withdrawn_at'),
    /** When retention marked it for the removal of its files, all but the manifest; `bytes` is 0 once they are gone. */
    prunedAt: integer('pruned_at'),
  },
  (t) => [primaryKey({ columns: [t.policy, t.version] })],
);

/**
 * The manifest that may become a version, noted before it is written to the object store. Only a manifest that is noted here is
 * committed, so one that somebody else put into the object store is not taken for what a crash left behind.
 */
export const commits = sqliteTable(
  'commits',
  {
    policy: text().notNull(),
    version: integer().notNull(),
    manifestSha256: text('manifest_sha256').notNull(),
  },
  (t) => [primaryKey({ columns: [t.policy, t.version] })],
);

/** What a round used of the platform, one row for each stage, to which each batch adds once. The columns are as in core/cost/usage.ts. */
export const usage = sqliteTable(
  'usage',
  {
    round: text().notNull(),
    stage: text({ enum: USAGE_STAGES }).notNull(),
    requests: integer().notNull(),
    cpuMs: integer('cpu_ms').notNull(),
    queueOperations: integer('queue_operations').notNull(),
    d1RowsRead: integer('d1_rows_read').notNull(),
    d1RowsWritten: integer('d1_rows_written').notNull(),
    r2ClassA: integer('r2_class_a').notNull(),
    r2ClassB: integer('r2_class_b').notNull(),
    r2BytesWritten: integer('r2_bytes_written').notNull(),
    r2BytesRead: integer('r2_bytes_read').notNull(),
  },
  (t) => [primaryKey({ columns: [t.round, t.stage] })],
);

/** The webhook deliveries already seen, so that each counts once. */
export const deliveries = sqliteTable('deliveries', {
  id: text().primaryKey(),
  at: integer().notNull(),
});

export const deadLetters = sqliteTable(
  'dead_letters',
  {
    /** Derived from stage and body, so the same message is one dead letter, however often it is given up. */
    id: text().primaryKey(),
    /** The stage that the message was for. */
    queue: text().notNull(),
    body: text({ mode: 'json' }).$type<unknown>().notNull(),
    attempts: integer().notNull(),
    kind: text().$type<FailureKind>().notNull(),
    code: text().notNull(),
    cause: text().notNull(),
    round: text(),
    group: text('grp'),
    at: integer().notNull(),
    replayedAt: integer('replayed_at'),
  },
  (t) => [index('dead_letters_by_time').on(t.at)],
);

/**
 * Episodes that agents hold about a group's task. One is opened once, and ends once: with the reward that its agent posted, or as missing
 * data. A group is rolled out when all of its episodes have ended.
 */
export const episodes = sqliteTable(
  'episodes',
  {
    group: text('grp').notNull(),
    /** Its number among the group's rollouts. */
    sample: integer().notNull(),
    round: text().notNull(),
    /** The group's index, for the message that continues it. */
    index: integer('idx').notNull(),
    /** The request that opened it: sent again, the same episode is its answer. */
    opening: text().notNull(),
    state: text({ enum: EPISODE_STATES }).notNull(),
    /** The reward of every seat; null where each has its own. */
    reward: real(),
    seatRewards: text('seat_rewards', { mode: 'json' }).$type<SeatRewards>(),
    /** What single calls were paid, by their numbers. */
    turnRewards: text('turn_rewards', { mode: 'json' }).$type<TurnRewards>(),
    /** Why no seat has a reward. */
    missing: text().$type<MissingReward>(),
    openedAt: integer('opened_at').notNull(),
    /** The last sign of its agent. */
    touchedAt: integer('touched_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.group, t.sample] }),
    uniqueIndex('episodes_by_opening').on(t.opening),
    index('episodes_of_round').on(t.round),
    index('episodes_by_state').on(t.state, t.touchedAt),
  ],
);

/** What agents asked in their episodes. The answers are objects; a row says that one is part of its episode. */
export const calls = sqliteTable(
  'calls',
  {
    group: text('grp').notNull(),
    sample: integer().notNull(),
    /** Its number in the episode, in the order of arrival. */
    turn: integer().notNull(),
    /** The seat that asked. */
    role: text().notNull(),
    /** The request that began it: sent again, its answer is the same. */
    request: text().notNull(),
    /** A hash of what was asked, by which a request that is sent again without a key is known. */
    asked: text().notNull(),
    state: text({ enum: ['begun', 'done'] }).notNull(),
    /** A hash of the conversation with its answer, by which a later call is known to go on from it. */
    dialogue: text(),
  },
  (t) => [primaryKey({ columns: [t.group, t.sample, t.turn] })],
);

/** Programs outside the mesh that compute for it. The token itself is not kept: its hash recognises it, the public key checks its seals. */
export const nodes = sqliteTable(
  'nodes',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    tokenSha256: text('token_sha256').notNull(),
    publicKey: text('public_key').notNull(),
    createdAt: integer('created_at').notNull(),
    exactness: text({ enum: EXACTNESS }).notNull().default('exact'),
    /** What its token opens for reading, in place of leases; null = it is a node's. */
    reads: text({ enum: READING }),
    /** Whether it may lease requests whose prompts hold reference answers. */
    seesGold: integer('sees_gold', { mode: 'boolean' }).notNull().default(false),
    kind: text({ enum: NODE_KINDS }),
    threads: integer(),
    /** When it last asked for work, at a precision of some seconds; 0 = it said that it leaves. */
    seenAt: integer('seen_at'),
    revokedAt: integer('revoked_at'),
    /** Set when an audit found that it does not compute what it says. */
    shutOutAt: integer('shut_out_at'),
    reason: text(),
    requests: integer().notNull().default(0),
    samples: integer().notNull().default(0),
    tokens: integer().notNull().default(0),
    /** Requests that it leased and that the clock or another node took back. */
    lost: integer().notNull().default(0),
    audited: integer().notNull().default(0),
    auditedAt: integer('audited_at'),
    /** Of a close node: over how many tokens its log-probabilities were compared, the sum of the absolute differences, and the largest, nats. */
    comparedTokens: integer('compared_tokens').notNull().default(0),
    mismatchSum: real('mismatch_sum').notNull().default(0),
    mismatchMost: real('mismatch_most').notNull().default(0),
    /** How far its draws were from those of the mesh, as core/audit/chance.ts sums it up: nats, nats², nats. */
    drift: real().notNull().default(0),
    driftSquares: real('drift_squares').notNull().default(0),
    driftSlack: real('drift_slack').notNull().default(0),
    /** The round whose comparison was added last: an audit that is repeated adds nothing. */
    comparedRound: text('compared_round'),
  },
  (t) => [uniqueIndex('nodes_by_name').on(t.name)],
);

/**
 * Sampling requests that a stage's Worker offered to nodes, for as long as there are nodes. The id is derived from what is asked, so offering
 * the same request again changes nothing. The results are objects; a row says who returned one, and under which seal.
 */
export const work = sqliteTable(
  'work',
  {
    id: text().primaryKey(),
    round: text().notNull(),
    stage: text({ enum: WORKER_STAGES }).notNull(),
    /** The group; for the proposals the word `proposals`. */
    group: text('grp').notNull(),
    /** The group's index, for the message that continues it. */
    index: integer('idx').notNull(),
    request: text({ mode: 'json' }).$type<SamplingRequest>().notNull(),
    /** What computes the request, and what a node must be for it: `engineText` of workers/store/work.ts. */
    engine: text().notNull(),
    samples: integer().notNull(),
    state: text({ enum: ['open', 'leased', 'done', 'closed'] }).notNull(),
    /** Who leased or answered it; null = an isolate of the mesh. */
    node: text(),
    lease: text(),
    leasedUntil: integer('leased_until'),
    sha256: text(),
    seal: text(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [index('work_by_state').on(t.state, t.createdAt), index('work_of_round').on(t.round, t.stage)],
);
