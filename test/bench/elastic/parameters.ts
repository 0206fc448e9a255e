/** The parameters of the mesh model: measured work, the platform's published or assumed figures, the load, and the outcome. */

export interface StageWork {
  readonly batch: number;
  readonly task: number;
  readonly sample: number;
}

/** The time that work takes on one core, ms. */
export interface Work {
  /** Fetching a version and making its session: the cold start of an isolate, and of every round in an isolate that lives. */
  readonly open: number;
  readonly propose: { readonly base: number; readonly task: number };
  /** The time for each batch of messages, for each task in it (its prompt is computed once), and for each sample. */
  readonly rollout: StageWork;
  readonly judge: StageWork;
  /** `change` is the time to change to another run's policy, whose versions it then fetches. */
  readonly learner: { readonly base: number; readonly sample: number; readonly change: number };
}

/** Where and how the mesh runs. Times are in ms. */
export interface Platform {
  /** Cores that all isolates share; null = each has its own. */
  readonly cores: number | null;
  /** The most concurrent consumers of a queue, and the queues of a stage. */
  readonly concurrency: number;
  readonly queues: number;
  /** Whether a consumer is added only when a batch is done, one for each; false = all exist from the start. */
  readonly ramp: boolean;
  /** The number of messages into which a round's proposals are split. */
  readonly proposers: number;
  /** The most messages that a consumer takes at once, and how long judges wait for a batch to fill. */
  readonly batch: number;
  readonly judgeWait: number;
  /** The time from sending a message until a consumer has it, and the time of a call that sends a hundred. */
  readonly delivery: number;
  readonly send: number;
  /** The one database: its time for a query, for a transaction and for each row that it reads, and the round-trip time. */
  readonly d1: {
    readonly read: number;
    readonly write: number;
    readonly row: number;
    readonly way: number;
    /** How many queries and transactions a batch of messages needs, one after the other. */
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
    /** Its speed, as a multiple of the measured machine's. */
    readonly speed: number;
  };
}

export interface Load {
  /** The most isolates that a stage may have. */
  readonly isolates: number;
  readonly tasks: number;
  readonly group: number;
  /** The rounds of each run. */
  readonly rounds: number;
  /** The number of concurrent runs, each with its own policy. */
  readonly runs: number;
  /** How many rounds of a run may be under way at once. 1 = on-policy. */
  readonly inFlight: number;
  /** The learner's limit of staleness: it drops rounds whose samples are more versions behind. */
  readonly maxStaleness: number;
}

export interface Outcome {
  /** The time of each round from beginning to commit, without each run's first, ms. */
  readonly roundMs: readonly number[];
  /** The time from the first round's beginning to the last commit, ms. */
  readonly totalMs: number;
  readonly samplesPerSecond: number;
  /** The versions between the one that a round was sampled from and the one that it was trained from. */
  readonly staleness: { readonly mean: number; readonly most: number };
  readonly dropped: number;
  /** The idle shares of the time of isolates (of the most at once), learner and database. */
  readonly idle: { readonly isolates: number; readonly learner: number; readonly d1: number };
  /** The most consumers that a stage had at once. */
  readonly mostAtOnce: number;
  /** Averages of a round: batches, computing time, sessions opened. */
  readonly perRound: { readonly batches: number; readonly cpuMs: number; readonly opened: number };
}
