/** Retries requests by p-retry. The rules of which answers are tried again, and that a server's `retry-after` is waited for, are ours. */
import pRetry, { type Options } from 'p-retry';

export interface BackOff {
  /** The number of attempts, the first included. */
  readonly attempts: number;
  /** The wait before the second attempt, in ms; it doubles with each, times a factor of 1 to 2 that is drawn. */
  readonly firstMs: number;
  readonly longestMs: number;
}

export const PATIENT: BackOff = { attempts: 8, firstMs: 250, longestMs: 15_000 };

/** Waits, but no longer than until the signal is aborted. */
const sleep = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });

const worthAnother = (status: number) => status === 408 || status === 429 || status >= 500;

/** An answer that asks for another attempt. */
export class AskAgain extends Error {
  /** The answer's `retry-after`, which is in seconds; 0 where it has none. */
  readonly afterMs: number;

  constructor(response: Response) {
    super(`The server answered ${response.status}.`);
    const seconds = Number(response.headers.get('retry-after'));
    this.afterMs = seconds > 0 && Number.isFinite(seconds) ? seconds * 1000 : 0;
  }
}

/**
 * The options of p-retry. What an answer asks for beyond the back-off's own wait is waited before that, so that both together are as long as
 * the longer of them. `signal` ends every wait, and p-retry then throws its reason.
 */
export const retrying = ({ attempts, firstMs, longestMs }: BackOff, signal?: AbortSignal): Options => ({
  retries: attempts - 1,
  minTimeout: firstMs,
  maxTimeout: longestMs,
  randomize: true,
  ...(signal ? { signal } : {}),
  onFailedAttempt: async ({ error, retryDelay }) => {
    const more = error instanceof AskAgain ? Math.min(longestMs, error.afterMs) - retryDelay : 0;
    if (more > 0) await sleep(more, signal);
  },
});

/**
 * Fetches until the answer is final. Network errors, 408, 429 and 5xx are tried again; any other answer is returned as it
 * is. After the last attempt, any answer is returned and a network error is thrown. A TypeError that p-retry does not know as one of the
 * network, by its message, is thrown at once.
 */
export const fetchPatiently = (
  send: () => Promise<Response>,
  backOff: BackOff = PATIENT,
): Promise<Response> =>
  pRetry(async (attempt) => {
    const response = await send();
    if (!worthAnother(response.status) || attempt === backOff.attempts) return response;
    await response.body?.cancel();
    throw new AskAgain(response);
  }, retrying(backOff));
