/** Reads request bodies: the size is bounded while reading, then the bytes must be UTF-8 and JSON, then the JSON must fit a schema. */
import * as v from 'valibot';
import { joinBytes } from '../../core/text/join-bytes.ts';
import { HttpError } from './http-error.ts';

const tooLarge = (limit: number) =>
  new HttpError(413, 'body.size', 'The body is too large.', { expected: `at most ${limit} bytes` });

/** Returns the body's bytes; it never reads more than `limit` of them, whatever the length header says. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
    total += chunk.byteLength;
    if (total > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return joinBytes(chunks);
}

const READ_ON_BYTES = 8 * 2 ** 20;
const READ_ON_MS = 2_000;

/**
 * Reads on, for a moment, what is left of the body of a request that is refused: workerd cuts the connection of whoever is still sending when the
 * answer comes, who then never sees why.
 */
export async function readOn({ body }: Request): Promise<void> {
  if (!body || body.locked) return;
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<{ done: true; value?: undefined }>((resolve) => {
    timer = setTimeout(() => resolve({ done: true }), READ_ON_MS);
  });
  for (let left = READ_ON_BYTES; left > 0; ) {
    const { done, value } = await Promise.race([reader.read(), late]);
    if (done) break;
    left -= value.byteLength;
  }
  clearTimeout(timer!);
}

export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new HttpError(400, 'body.json', 'The body is no JSON.', { expected: 'a JSON object in UTF-8' });
  }
}

/** Returns the value if it fits the schema; else throws a 422 that names the path of the first field that does not fit. */
export function check<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  code = 'body.schema',
): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = v.getDotPath(issue)?.slice(0, 80);
  throw new HttpError(422, code, `${path ? `${path}: ` : ''}${issue.message.slice(0, 200)}`, {
    ...(issue.expected ? { expected: issue.expected.slice(0, 200) } : {}),
  });
}

export const readJsonBody = async <S extends v.GenericSchema>(
  request: Request,
  schema: S,
  limit: number,
): Promise<v.InferOutput<S>> => {
  const value = parseJson(await readBytes(request, limit));
  // A valibot object schema also accepts an array.
  if (Array.isArray(value))
    throw new HttpError(422, 'body.schema', 'The body is a list.', { expected: 'an object' });
  return check(schema, value);
};
