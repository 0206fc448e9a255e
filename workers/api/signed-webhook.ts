/** Sends orders signed by Standard Webhooks' headers. A signature is valid for five minutes and for one delivery. */
import * as v from 'valibot';
import { RollmeshError } from '../../core/errors.ts';
import { standardHeaders } from '../../core/net/standard-webhook.ts';
import { type RunStarted, refusal, runStarted } from '../../core/schema/answers.ts';
import type { runOrder } from '../../recipes/run-order.ts';

export async function orderRounds(
  url: string,
  secret: string,
  order: v.InferInput<typeof runOrder>,
): Promise<RunStarted> {
  const body = JSON.stringify(order);
  const response = await fetch(new URL('/hooks/rounds', url), {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      // The request gets its own connection: on an idle one that the server has just closed, the order would be lost.
      connection: 'close',
      ...standardHeaders(secret, `order_${crypto.randomUUID()}`, Math.floor(Date.now() / 1000), body),
    },
    signal: AbortSignal.timeout(30_000),
  }).catch((cause: unknown) => {
    throw new RollmeshError('retry', 'gateway.unreachable', `The gateway ${url} does not answer.`, {
      next: 'Check the address, and that the mesh is up.',
      cause,
    });
  });
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return v.parse(runStarted, answer);
  const said = v.safeParse(refusal, answer);
  if (!said.success)
    throw new RollmeshError('retry', 'gateway.failed', `The gateway answered ${response.status}.`);
  const { code, message, expected, next } = said.output.error;
  throw new RollmeshError('wrong-input', code, message, {
    ...(expected ? { expected } : {}),
    ...(next ? { next } : {}),
  });
}
