/**
 * The page's requests to the gateway and the types of the answers. A run's rounds are fetched once, and after that only the newest:
 * a round that has ended changes once more, when the evaluation of its version arrives, and then no more.
 */

/** @typedef {import('../../core/schema/report.ts').RoundReport} RoundReport */
/** @typedef {import('../../core/schema/report.ts').EvaluationReport} EvaluationReport */
/** @typedef {import('../../core/schema/answers.ts').ListedRun} Run */
/** @typedef {import('../../core/schema/answers.ts').RoundAnswer} Round */
/** @typedef {import('../../core/schema/answers.ts').GroupAnswer} Group */
/** @typedef {import('../../core/schema/answers.ts').GroupContent} GroupContent */
/** @typedef {import('../../core/schema/answers.ts').ReadableSample} ReadableSample */
/** @typedef {import('../../core/schema/answers.ts').ContentListing} ContentListing */
/** @typedef {import('../../core/schema/answers.ts').ProposalListing} ProposalListing */
/** @typedef {import('../../core/schema/answers.ts').RecipeAnswer} Recipe */
/** @typedef {import('../../core/schema/answers.ts').RedrawnSample} RedrawnSample */
/** @typedef {import('../../core/schema/answers.ts').HeldOutListing} HeldOutListing */
/** @typedef {import('../../core/schema/answers.ts').VersionAnswer} PolicyVersion */
/** @typedef {import('../../core/schema/answers.ts').PolicyVersions} PolicyHistory */
/** @typedef {import('../../core/schema/answers.ts').DeadLetter} DeadLetter */

/** An error that the server reports. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string} [code] of the refusal, as the server names it
   */
  constructor(status, message, code) {
    super(message);
    this.status = status;
    this.code = code;
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

/** Sampling a large policy takes longer than reading. */
const SAMPLING_TIMEOUT_MS = 300_000;
/** Tokens of a text that a policy without a chat template goes on with, at most. */
const LONGEST_TEXT = 128;

/** @returns {Record<string, string>} */
const authorization = () => {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { authorization: `Bearer ${token}` } : {};
};

/** The key of the token of whoever runs the mesh, which changes of runs need; it is kept until the tab is closed. */
const OPERATOR_TOKEN = 'rollmesh-operator-token';

/** @param {string} token */
export const keepOperatorToken = (token) => sessionStorage.setItem(OPERATOR_TOKEN, token);

/**
 * @template T
 * @param {string} path
 * @param {{ method?: string, timeoutMs?: number, body?: object, token?: string | null }} [settings] `token`: in place of the reading token
 * @returns {Promise<T>}
 */
export async function getJson(path, { method = 'GET', timeoutMs = TIMEOUT_MS, body: sent, token } = {}) {
  const response = await fetch(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(token ? { authorization: `Bearer ${token}` } : authorization()),
      ...(sent ? { 'content-type': 'application/json' } : {}),
    },
    ...(sent ? { body: JSON.stringify(sent) } : {}),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  const message = body?.error?.message ?? `The server answers ${response.status} to ${path}.`;
  throw new ApiError(
    response.status,
    [message, body?.error?.next].filter(Boolean).join(' '),
    body?.error?.code,
  );
}

/** @typedef {{ role: 'user' | 'assistant', content: string }} Message */
/** @typedef {{ text: string, isCut: boolean, goesOn: boolean }} Said `goesOn`: the policy has no chat template, and went on with the last message alone. */

/**
 * What a version answers to a conversation.
 * @param {string} model NAME@N
 * @param {readonly Message[]} messages
 * @param {number} temperature
 * @returns {Promise<Said>}
 */
export async function answerTo(model, messages, temperature) {
  const settings = { method: 'POST', timeoutMs: SAMPLING_TIMEOUT_MS };
  try {
    /** @type {{ choices: { message: { content: string | null }, finish_reason: string }[] }} */
    const { choices } = await getJson('/v1/chat/completions', {
      ...settings,
      body: { model, messages, temperature },
    });
    const [choice] = choices;
    return {
      text: choice?.message.content ?? '',
      isCut: choice?.finish_reason === 'length',
      goesOn: false,
    };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'renderer.no-template') throw error;
  }
  const prompt = messages.at(-1)?.content ?? '';
  /** @type {{ choices: { text: string, finish_reason: string }[] }} */
  const { choices } = await getJson('/v1/completions', {
    ...settings,
    body: { model, prompt, temperature, max_tokens: LONGEST_TEXT },
  });
  const [choice] = choices;
  return { text: choice?.text ?? '', isCut: choice?.finish_reason === 'length', goesOn: true };
}

/** @typedef {{ width: number, height: number, pixels: Uint8ClampedArray<ArrayBuffer> }} Picture `pixels`: red, green, blue and opacity of each, row by row */

/** @type {Map<string, Promise<Picture>>} */
const pictures = new Map();
/** Pictures that are kept. */
const KEPT_PICTURES = 200;

/** @param {string} sha256 @returns {Promise<Picture>} */
async function fetchPicture(sha256) {
  const path = `/api/images/${sha256}`;
  const response = await fetch(path, { headers: authorization(), signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new ApiError(response.status, `The server answers ${response.status} to ${path}.`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const [header = '', width, height] =
    /^P6\n(\d+) (\d+)\n255\n/.exec(String.fromCharCode(...bytes.subarray(0, 20))) ?? [];
  const [across, down] = [Number(width), Number(height)];
  const pixels = new Uint8ClampedArray(4 * across * down).fill(255);
  for (let i = 0; i < across * down; i++)
    pixels.set(bytes.subarray(header.length + 3 * i, header.length + 3 * i + 3), 4 * i);
  return { width: across, height: down, pixels };
}

/** The image of that hash, which is asked for once. @param {string} sha256 */
export function imageNamed(sha256) {
  const asked = pictures.get(sha256) ?? fetchPicture(sha256);
  asked.catch(() => pictures.delete(sha256));
  if (pictures.size >= KEPT_PICTURES) pictures.clear();
  pictures.set(sha256, asked);
  return asked;
}

/** @typedef {import('../../core/schema/answers.ts').RunLabel} RunLabel */

/** Names, tags, hides or shows a run. @param {string} run @param {RunLabel} label @returns {Promise<unknown>} */
export const labelRun = (run, label) =>
  getJson(`/api/runs/${run}/label`, {
    method: 'PUT',
    body: label,
    token: sessionStorage.getItem(OPERATOR_TOKEN),
  });

/** Deletes a run with its samples, a part at a time. @param {string} run */
export async function deleteRun(run) {
  for (let left = true; left; ) {
    /** @type {{ left: boolean }} */
    const answer = await getJson(`/api/runs/${run}`, {
      method: 'DELETE',
      token: sessionStorage.getItem(OPERATOR_TOKEN),
    });
    left = answer.left;
  }
}

/**
 * Has a sample drawn again.
 * @param {string} round
 * @param {string} sample
 * @returns {Promise<RedrawnSample>}
 */
export const drawAgain = (round, sample) =>
  getJson(`/api/samples/${sample}/redraw?round=${round}`, { method: 'POST', timeoutMs: SAMPLING_TIMEOUT_MS });

/**
 * Has a version answer a few held-out tasks.
 * @param {string} round any round of the run
 * @param {number} version
 * @returns {Promise<HeldOutListing>}
 */
export const askVersion = (round, version) =>
  getJson(`/api/rounds/${round}/held-out?version=${version}`, {
    method: 'POST',
    timeoutMs: SAMPLING_TIMEOUT_MS,
  });

/** @type {Map<string, Promise<Recipe | null>>} */
const recipes = new Map();

/**
 * What the mesh says of a recipe; null where it does not know it any more. Asked once.
 * @param {string} name
 * @returns {Promise<Recipe | null>}
 */
export function recipeNamed(name) {
  const known = recipes.get(name);
  if (known) return known;
  const asked = getJson(`/api/recipes/${encodeURIComponent(name)}`).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return null;
    recipes.delete(name);
    throw error;
  });
  recipes.set(name, asked);
  return asked;
}

/**
 * Calls `changed` for every event of the mesh's stream until it ends, and resolves then. Rejects where there is no stream.
 * @param {string | null} run
 * @param {() => void} changed
 * @param {AbortSignal} signal
 */
export async function listen(run, changed, signal) {
  const query = run === null ? '' : `?run=${run}`;
  const response = await fetch(`/api/events${query}`, {
    headers: { accept: 'text/event-stream', ...authorization() },
    signal,
  });
  if (!response.ok || !response.body) throw new ApiError(response.status, 'The mesh sends no events.');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (value.includes('event: change')) changed();
  }
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
    const open = this.rounds.findLast((round) => round.state !== 'done' && round.state !== 'failed');
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
