/** Sends requests to a server of completions and turns its failures into errors. */
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';

export interface ServerOptions {
  /** The URL without `/completions`, such as `http://localhost:8000/v1`. */
  readonly baseUrl: string;
  /** The server's name for the model of exactly this version. */
  readonly model: string;
  readonly apiKey?: string;
  /** How long one request may take, in milliseconds; default 120 000. */
  readonly timeoutMs?: number;
  /** The longest answer that is read, in bytes; default 64 MiB. Scores carry a number for each token of the vocabulary. */
  readonly maxBytes?: number;
  readonly fetch?: typeof fetch;
}

const json = v.pipe(v.string(), v.parseJson());

const malformed = (where: string) =>
  new RollmeshError('give-up', 'remote.answer', `The server's answer is malformed at ${where}.`, {
    expected: 'a completion with log-probabilities',
    next: 'Check that the server is of the dialect that the policy was given.',
  });

/** Checks a part of an answer by its schema; throws `remote.answer`. */
export function checked<Schema extends v.GenericSchema>(
  schema: Schema,
  part: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, part);
  if (parsed.success) return parsed.output;
  throw malformed(v.getDotPath(parsed.issues[0]) ?? 'its root');
}

/** Reads an answer's text. @throws RollmeshError `remote.size` as soon as there are more bytes than `most` */
async function readText(response: Response, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > most)
      throw new RollmeshError('give-up', 'remote.size', `The server's answer is longer than ${most} bytes.`, {
        next: 'Ask for less at once, or raise maxBytes.',
      });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Where a server's routes begin that are not OpenAI's. */
export const rootOf = ({ baseUrl }: Pick<ServerOptions, 'baseUrl'>): string => baseUrl.replace(/\/v1$/, '');

export interface Answered {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a body, or asks without one. Redirections are not followed, since the key is for this address alone.
 * @throws RollmeshError `remote.unreachable` of kind `retry`, or `remote.size`
 */
export async function sendTo(
  {
    baseUrl,
    apiKey,
    timeoutMs = 120_000,
    maxBytes = 64 * 2 ** 20,
    fetch: send = fetch,
  }: Omit<ServerOptions, 'model'>,
  url: string,
  body?: unknown,
): Promise<Answered> {
  try {
    const response = await send(url, {
      headers: {
        'content-type': 'application/json',
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
      },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, text: await readText(response, maxBytes) };
  } catch (cause) {
    if (cause instanceof RollmeshError) throw cause;
    throw new RollmeshError('retry', 'remote.unreachable', `${baseUrl} did not answer.`, { cause });
  }
}

/** Throws `retry` for a server that is away or busy, `give-up` for any other refusal. */
export async function askServer(
  options: Omit<ServerOptions, 'model'>,
  url: string,
  body?: unknown,
): Promise<unknown> {
  const { status, text } = await sendTo(options, url, body);
  if (status >= 200 && status < 300) return checked(json, text);
  throw refusedBy({ status, text });
}

export const refusedBy = ({ status, text }: Answered): RollmeshError =>
  new RollmeshError(
    status === 429 || status >= 500 ? 'retry' : 'give-up',
    'remote.status',
    `The server answered ${status}: ${text.slice(0, 200)}.`,
  );
