/**
 * The page's requests to the gateway and the types of the answers. A run's rounds are fetched once, and after that only the newest:
 * a round that has ended changes once more, when the evaluation of its version arrives, and then no more.
 */

/** @typedef {import('../core/schema/report.ts').RoundReport} RoundReport */
/** @typedef {import('../core/schema/report.ts').EvaluationReport} EvaluationReport */
/** @typedef {import('../core/schema/answers.ts').RunState} Run */
/** @typedef {import('../core/schema/answers.ts').RoundAnswer} Round */
/** @typedef {import('../core/schema/answers.ts').GroupAnswer} Group */
/** @typedef {import('../core/schema/answers.ts').GroupContent} GroupContent */
/** @typedef {import('../core/schema/answers.ts').ReadableSample} ReadableSample */
/** @typedef {import('../core/schema/answers.ts').VersionAnswer} PolicyVersion */
/** @typedef {import('../core/schema/answers.ts').PolicyVersions} PolicyHistory */
/** @typedef {import('../core/schema/answers.ts').DeadLetter} DeadLetter */

/** An error that the server reports. */
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

/** The key of the reading token, for gateways that need one; it is kept until the tab is closed. */
const TOKEN = 'rollmesh-token';

/** @param {string} token */
export const keepToken = (token) => sessionStorage.setItem(TOKEN, token);

const TIMEOUT_MS = 15_000;
/** How many rounds are requested at once. */
const PAGE = 500;
/** How many rounds a refresh requests: as many as an evaluation may lag behind. */
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

  /** The rounds in ascending order. */
  get rounds() {
    this.#sorted ??= [...this.#rounds.values()].sort((a, b) => a.index - b.index);
    return this.#sorted;
  }

  /** Fetches new and changed rounds. */
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
