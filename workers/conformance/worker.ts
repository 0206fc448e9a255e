/** The Worker of `npx rollmesh conformance`: GET / says what the checks are, POST /NAME runs one. */
import { type ConformanceEnv, TABLES } from './checks/check.ts';
import { noteDelivery } from './checks/queues.ts';
import { CHECKS } from './checks.ts';

const DEAD = 'rollmesh-conformance-dead';

/** Whether who asks has the Worker's token; one without a token lets nobody in. */
export function isAllowed(request: Request, { CONFORMANCE_TOKEN: token }: ConformanceEnv): boolean {
  return Boolean(token) && request.headers.get('authorization') === `Bearer ${token}`;
}

export const refused = (): Response => Response.json({ error: 'token.wrong' }, { status: 401 });

/** Answers GET / and POST /NAME of somebody who is allowed. */
export async function answerCheck(
  request: Request,
  env: ConformanceEnv,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<Response> {
  const name = new URL(request.url).pathname.slice(1);
  if (name === '') return Response.json({ checks: CHECKS.map(({ run: _, ...said }) => said) });
  const found = CHECKS.find((one) => one.name === name);
  if (!found || request.method !== 'POST') return Response.json({ error: 'check.unknown' }, { status: 404 });
  await env.DB.batch(TABLES.map((table) => env.DB.prepare(table)));
  const mark = `${name}/${crypto.randomUUID()}`;
  try {
    await found.run(env, mark, (work) => context.waitUntil(work));
    return Response.json({ holds: true, seen: null });
  } catch (error) {
    return Response.json({ holds: false, seen: String(error).slice(0, 500) });
  }
}

export default {
  fetch: async (request, env, context) =>
    isAllowed(request, env) ? answerCheck(request, env, context) : refused(),
  async queue(batch, env): Promise<void> {
    for (const message of batch.messages) {
      const again = await noteDelivery(env, message, batch.queue === DEAD);
      if (again) message.retry(again);
      else message.ack();
    }
  },
} satisfies ExportedHandler<ConformanceEnv>;
