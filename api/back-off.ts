/** Retries requests. The wait between attempts is what the server asks for, or else doubles with jitter. */
export interface BackOff {
  /** The number of attempts, the first included. */
  readonly attempts: number;
  /** The wait before the second attempt, in ms. */
  readonly firstMs: number;
  readonly longestMs: number;
}

export const PATIENT: BackOff = { attempts: 8, firstMs: 250, longestMs: 15_000 };

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The answer's `retry-after` header (in seconds) converted to ms, if it has one. */
function askedMs(response: Response | undefined): number | undefined {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

const worthAnother = (status: number) => status === 408 || status === 429 || status >= 500;

/**
 * Fetches until the answer is final. Network errors, 408, 429 and 5xx are tried again; any other answer is returned as it
 * is. After the last attempt, any answer is returned and a network error is thrown.
 */
export async function fetchPatiently(
  send: () => Promise<Response>,
  { attempts, firstMs, longestMs }: BackOff = PATIENT,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    let response: Response | undefined;
    try {
      response = await send();
      if (!worthAnother(response.status) || attempt === attempts) return response;
      await response.body?.cancel();
    } catch (error) {
      if (attempt === attempts) throw error;
    }
    await waited(response, { firstMs, longestMs }, attempt);
  }
}

/** Waits after an attempt, the first of which is 1: as long as its answer asks for, or else longer each time. */
export async function waited(
  response: Response | undefined,
  { firstMs, longestMs }: Pick<BackOff, 'firstMs' | 'longestMs'>,
  attempt: number,
): Promise<void> {
  const doubled = firstMs * 2 ** (attempt - 1) * (0.5 + Math.random());
  await sleep(Math.min(longestMs, askedMs(response) ?? doubled));
}
