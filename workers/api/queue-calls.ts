/** The two calls of the pull API that the learner makes, and how they are made to the stand-in of a local mesh: by one POST each. */

export interface QueueCalls {
  /** @returns the `result` of the answer */
  pull(body: { readonly batch_size: number; readonly visibility_timeout_ms: number }): Promise<unknown>;
  ack(body: {
    readonly acks: { readonly lease_id: string }[];
    readonly retries: { readonly lease_id: string; readonly delay_seconds: number }[];
  }): Promise<unknown>;
}

export interface QueueCallsOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly accountId: string;
  readonly queueId: string;
  readonly token: string;
  /** Makes a request, again where it may be tried again. */
  readonly send: (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
}

/** An answer of the API that is not what was asked for. */
export class QueueRefusal extends Error {
  readonly status: number;
  /** Its `errors`, whatever they are. */
  readonly errors: unknown;

  constructor(status: number, errors: unknown) {
    super(`The queue answers with ${status}.`);
    this.status = status;
    this.errors = errors;
  }
}

/** Is the API at this address a stand-in on this machine? */
export const isLocal = (baseUrl: string): boolean =>
  /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(new URL(baseUrl).hostname);

export function localCalls({ baseUrl, accountId, queueId, token, send }: QueueCallsOptions): QueueCalls {
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await send(`${baseUrl}/accounts/${accountId}/queues/${queueId}/messages/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json().catch(() => ({}))) as { result?: unknown; errors?: unknown };
    if (!response.ok) throw new QueueRefusal(response.status, answer.errors);
    return answer.result;
  };
  return { pull: (body) => post('pull', body), ack: (body) => post('ack', body) };
}
