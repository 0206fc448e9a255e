/** One request to a completions server, and what its failures mean. */
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';

export interface ServerOptions {
  /** Up to and without `/completions`, such as `http://localhost:8000/v1`. */
  readonly baseUrl: string;
  /** The server's name for the model of exactly this version. */
  readonly model: string;
  readonly apiKey?: string;
  /** How long one request may take, in milliseconds (120 000). */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

const answer = v.pipe(v.string(), v.parseJson(), v.object({ choices: v.tuple([v.unknown()]) }));

const malformed = (where: string) =>
  new RollmeshError('give-up', 'remote.answer', `The server's answer is malformed at ${where}.`, {
    expected: 'a completion with log-probabilities',
    next: 'Check that the server is of the dialect that the policy was given.',
  });

/** A part of an answer by its schema; throws `remote.answer`. */
export function checked<Schema extends v.GenericSchema>(
  schema: Schema,
  part: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, part);
  if (parsed.success) return parsed.output;
  throw malformed(v.getDotPath(parsed.issues[0]) ?? 'its root');
}

/** The first choice of the answer. `retry` for a server that is away or busy, `give-up` for any other refusal. */
export async function askServer(
  { baseUrl, model, apiKey, timeoutMs = 120_000, fetch: send = fetch }: ServerOptions,
  request: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  let response: Response;
  let text: string;
  try {
    response = await send(`${baseUrl}/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
      },
      body: JSON.stringify({ model, n: 1, ...request }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await response.text();
  } catch (cause) {
    throw new RollmeshError('retry', 'remote.unreachable', `${baseUrl} did not answer.`, { cause });
  }
  if (response.ok) return checked(answer, text).choices[0];
  const kind = response.status === 429 || response.status >= 500 ? 'retry' : 'give-up';
  const what = `The server answered ${response.status}: ${text.slice(0, 200)}.`;
  throw new RollmeshError(kind, 'remote.status', what);
}
