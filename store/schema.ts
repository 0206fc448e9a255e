/**
 * The mesh's state in D1: runs, their rounds, one row a group, policies and what went wrong. Objects (proposals,
 * rollouts, weights) are in R2; nothing here is needed to read them, only to know what exists and what is due.
 */
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { FailureKind } from '../core/errors.ts';
import type { GroupFailure } from '../core/schema/answers.ts';
import type { RoundReport } from '../core/schema/report.ts';
import type { RoleBinding, RoundSpec, RunSettings } from '../core/schema/round.ts';
import { GROUP_STATES, ROUND_STATES, USAGE_STAGES } from '../core/stages.ts';

export type { GroupFailure as Failure };

export const runs = sqliteTable('runs', {
  id: text().primaryKey(),
  settings: text({ mode: 'json' }).$type<RunSettings>().notNull(),
  /** Roles of the recipe in the order they act, and the weights they use: a run keeps those it began with. */
  roles: text({ mode: 'json' }).$type<Readonly<Record<string, RoleBinding>>>().notNull(),
  /** Index of the last round that is wanted. */
  target: integer().notNull(),
  /** A failed round stops its run; the next webhook opens it again. */
  state: text({ enum: ['open', 'stopped'] }).notNull(),
  createdAt: integer('created_at').notNull(),
});

export const rounds = sqliteTable(
  'rounds',
  {
    id: text().primaryKey(),
    run: text().notNull(),
    index: integer('idx').notNull(),
    spec: text({ mode: 'json' }).$type<RoundSpec>().notNull(),
    stage: text({ enum: ROUND_STATES }).notNull(),
    /** Groups admitted; known from `rollout` on. */
    expected: integer().notNull().default(0),
    /** Proposals written, valid or not. */
    proposed: integer().notNull().default(0),
    /** sha256 of the proposals' object; part of the seal of each group. */
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
    /** When the callback took the news of its end. */
    toldAt: integer('told_at'),
  },
  (t) => [uniqueIndex('rounds_of_run').on(t.run, t.index), index('rounds_by_stage').on(t.stage)],
);

/** No index but the key: at most 5 rows are written a group (key and row when admitted, row when scored, row when trained). */
export const groups = sqliteTable(
  'groups',
  {
    round: text().notNull(),
    id: text().notNull(),
    index: integer('idx').notNull(),
    task: text().notNull(),
    proposal: text(),
    state: text({ enum: GROUP_STATES }).notNull(),
    /** Of the scored object's bytes. */
    sha256: text(),
    /** The mesh's seal, as it was sent to the learner. */
    mac: text(),
    failure: text({ mode: 'json' }).$type<GroupFailure>(),
  },
  (t) => [primaryKey({ columns: [t.round, t.id] })],
);

export const policies = sqliteTable('policies', {
  name: text().primaryKey(),
  /** The pointer: moved last, by compare-and-set. */
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
    /** Bytes of all its files. */
    bytes: integer().notNull(),
    /** `manifestSha256` of its manifest; null until it is noted for a version of an earlier release. */
    manifestSha256: text('manifest_sha256'),
    createdAt: integer('created_at').notNull(),
    /** Why it must not be used any more; null = it may be. */
    withdrawn: text(),
    withdrawnAt: integer('withdrawn_at'),
    /** When retention took its files, its manifest excepted; `bytes` is 0 once they are gone. */
    prunedAt: integer('pruned_at'),
  },
  (t) => [primaryKey({ columns: [t.policy, t.version] })],
);

/** What was used for a round, by who used it: one row a stage, added to once a batch. Columns as in core/cost/usage.ts. */
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

/** Webhook deliveries seen, so that each counts once. */
export const deliveries = sqliteTable('deliveries', {
  id: text().primaryKey(),
  at: integer().notNull(),
});

export const deadLetters = sqliteTable(
  'dead_letters',
  {
    /** Derived from stage and body: the same message is one dead letter however often it dies. */
    id: text().primaryKey(),
    /** The stage that it was for. */
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
