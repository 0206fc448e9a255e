/** What the model of the mesh is made of: work as it was measured, the platform as it is published or assumed, and what is asked of it. */

export interface StageWork {
  readonly batch: number;
  readonly task: number;
  readonly sample: number;
}

/** Time that work takes on one core, ms. */
export interface Work {
  /** Fetching a version and making its session: the cold start of an isolate, and of every round in an isolate that lives. */
  readonly open: number;
  readonly propose: { readonly base: number; readonly task: number };
  /** By batch of messages, by task in it, whose prompt is computed once, and by sample. */
  readonly rollout: StageWork;
  readonly judge: StageWork;
  /** `change`: of going over to another run's policy, whose versions it then fetches. */
  readonly learner: { readonly base: number; readonly sample: number; readonly change: number };
}

/** Where and how it runs. Times in ms. */
export interface Platform {
  /** Cores that all isolates share; null = each has its own. */
  readonly cores: number | null;
  /** Consumers of one queue at a time, and queues a stage. */
  readonly concurrency: number;
  readonly queues: number;
  /** Consumers are added only when a batch is done, one for each; false = all are there at once. */
  readonly ramp: boolean;
  /** Messages that a round's proposals are split into. */
  readonly proposers: number;
  /** Messages that one consumer takes at most, and how long judges wait for a batch to fill. */
  readonly batch: number;
  readonly judgeWait: number;
  /** From sending a message until a consumer has it; and one call that sends a hundred. */
  readonly delivery: number;
  readonly send: number;
  /** The one database: its time for a query, for a transaction, and for each row it looks at; and the way there and back. */
  readonly d1: {
    readonly read: number;
    readonly write: number;
    readonly row: number;
    readonly way: number;
    /** Queries and transactions of a batch of messages, one after the other. */
    readonly reads: number;
    readonly writes: number;
  };
  readonly r2: { readonly get: number; readonly put: number };
  /** The learner: until it pulls; a call for a hundred messages; one object, and how many it fetches at a time; publishing. */
  readonly learner: {
    readonly poll: number;
    readonly pull: number;
    readonly fetch: number;
    readonly width: number;
    readonly publish: number;
    /** Times as fast as the machine that was measured. */
    readonly speed: number;
  };
}

export interface Load {
  /** Isolates that a stage may have at most. */
  readonly isolates: number;
  readonly tasks: number;
  readonly group: number;
  /** Rounds to play in each run. */
  readonly rounds: number;
  /** Runs at once, each with a policy of its own. */
  readonly runs: number;
  /** Admission: rounds that may be under way before the version they lead to. 1 = on policy. */
  readonly inFlight: number;
  /** The learner's limit: rounds whose samples are more versions behind are dropped. */
  readonly maxStaleness: number;
}

export interface Outcome {
  /** Of rounds from beginning to commit, without each run's first; ms. */
  readonly roundMs: readonly number[];
  /** From the first beginning to the last commit. */
  readonly totalMs: number;
  readonly samplesPerSecond: number;
  /** Versions between what sampled a round and what it was trained from. */
  readonly staleness: { readonly mean: number; readonly most: number };
  readonly dropped: number;
  /** Shares of the time in which isolates (of the most at once), learner and database had nothing to do. */
  readonly idle: { readonly isolates: number; readonly learner: number; readonly d1: number };
  /** Most consumers that a stage had at once. */
  readonly mostAtOnce: number;
  /** By round: batches, time computed, sessions opened. */
  readonly perRound: { readonly batches: number; readonly cpuMs: number; readonly opened: number };
}
