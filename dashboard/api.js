/**
 * What the gateway tells the page, and how the page asks. A run's rounds are fetched once; after that only the newest:
 * a round that has ended changes once more, when the evaluation of its version comes in, and then no more.
 */

/** @typedef {import('../core/schema/report.ts').RoundReport} RoundReport */
/** @typedef {import('../core/schema/report.ts').EvaluationReport} EvaluationReport */
/** @typedef {import('../core/schema/round.ts').RunSettings} RunSettings */
/** @typedef {import('../core/schema/sample.ts').Sample} Sample */

/** @typedef {{ kind: string, code: string, message: string }} Failure */
/** @typedef {{ rolling: number, scored: number, trained: number, failed: number }} GroupCounts */

/**
 * @typedef {object} Run
 * @property {string} id
 * @property {RunSettings} settings
 * @property {number} target
 * @property {'open' | 'stopped'} state
 * @property {number} createdAt
 */

/**
 * @typedef {object} Round
 * @property {string} id
 * @property {string} run
 * @property {number} index
 * @property {'proposing' | 'solving' | 'training' | 'done' | 'failed'} stage
 * @property {number} expected Groups admitted; known from `solving` on.
 * @property {number} proposed Proposals written, valid or not.
 * @property {GroupCounts} groups
 * @property {string | null} reason
 * @property {Readonly<Record<string, { name: string, version: number }>>} roles The version that each role uses.
 * @property {number | null} version The version that the round made.
 * @property {RoundReport | null} report
 * @property {RoundUsage | null} [usage]
 * @property {number} createdAt ms since 1970, as all times here.
 * @property {number | null} solvingAt
 * @property {number | null} trainingAt
 * @property {number | null} endedAt
 */

/**
 * @typedef {object} Group
 * @property {string} group
 * @property {number} index
 * @property {string} task
 * @property {'rolling' | 'scored' | 'trained' | 'failed'} state
 * @property {Failure | null} failure
 */

/**
 * What the platform gave: counts, ms and bytes.
 * @typedef {{ requests: number, cpuMs: number, queueOperations: number, d1RowsRead: number, d1RowsWritten: number, r2ClassA: number, r2ClassB: number, r2BytesWritten: number, r2BytesRead: number }} Usage
 */
/** In all and by stage, with its price in dollars. @typedef {{ stages: Record<string, Usage>, total: Usage, cost: { total: number }, pricesOf: string }} RoundUsage */

/** @typedef {Sample & { readonly text: { prompt: string, completion: string } | null }} ReadableSample */

/** A group with its texts; null while it is not scored. @typedef {Group & { samples: ReadableSample[] | null, judgments: ReadableSample[] | null, gold: (boolean | null)[] | null, truth: (boolean | null)[] | null }} GroupContent */

/**
 * @typedef {object} PolicyVersion
 * @property {number} version
 * @property {number | null} parent
 * @property {string | null} round
 * @property {number} bytes
 * @property {number} createdAt
 * @property {string | null} withdrawn
 * @property {number | null} [prunedAt] when its files were removed
 */

/** @typedef {{ name: string, current: number, next: number, versions: PolicyVersion[] }} PolicyHistory */

/**
 * @typedef {object} DeadLetter
 * @property {string} id
 * @property {string} queue
 * @property {number} attempts
 * @property {string} kind
 * @property {string} code
 * @property {string} cause
 * @property {string | null} round
 * @property {string | null} group
 * @property {number} at
 * @property {number | null} replayedAt
 */

/** What the server says is wrong. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The reading token, where the gateway wants one; it ends with the tab. */
const TOKEN = 'rollmesh-token';

/** @param {string} token */
export const keepToken = (token) => sessionStorage.setItem(TOKEN, token);

const TIMEOUT_MS = 15_000;
/** Rounds asked for at once. */
const PAGE = 500;
/** Rounds asked for when looking for news: as many as an evaluation may lag behind. */
const NEWS = 8;

/**
 * @template T
 * @param {string} path
 * @returns {Promise<T>}
 */
export async function getJson(path) {
  const token = sessionStorage.getItem(TOKEN);
  const response = await fetch(path, {
    headers: { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  const message = body?.error?.message ?? `The server answers ${response.status} to ${path}.`;
  throw new ApiError(response.status, [message, body?.error?.next].filter(Boolean).join(' '));
}

/** A run's rounds by index. */
export class RoundHistory {
  /** @type {Map<number, Round>} */
  #rounds = new Map();
  /** @type {Round[] | null} */
  #sorted = null;

  /** @param {string} run */
  constructor(run) {
    this.run = run;
  }

  /** Ascending. */
  get rounds() {
    this.#sorted ??= [...this.#rounds.values()].sort((a, b) => a.index - b.index);
    return this.#sorted;
  }

  /** Fetches what is new. */
  async refresh() {
    const newest = this.rounds.at(-1)?.index ?? 0;
    const open = this.rounds.findLast((round) => round.stage !== 'done' && round.stage !== 'failed');
    /** Rounds up to this one are known. */
    const settled = open ? open.index - 1 : newest;
    for (let before; ; ) {
      const page = await this.#page(before === undefined && newest > 0 ? NEWS : PAGE, before);
      for (const round of page) this.#rounds.set(round.index, round);
      this.#sorted = null;
      const oldest = page.at(-1)?.index ?? 1;
      if (oldest <= Math.max(1, settled + 1) || oldest === before) return;
      before = oldest;
    }
  }

  /**
   * Newest first.
   * @param {number} limit
   * @param {number | undefined} before
   */
  async #page(limit, before) {
    const query = new URLSearchParams({ run: this.run, limit: String(limit) });
    if (before !== undefined) query.set('before', String(before));
    /** @type {{ rounds: Round[] }} */
    const { rounds } = await getJson(`/api/rounds?${query}`);
    return rounds;
  }
}
