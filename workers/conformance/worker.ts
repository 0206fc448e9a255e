/** The Worker of `npx rollmesh conformance`: GET / says what the checks are, POST /NAME runs one. */
import { CHECKS, type ConformanceEnv, noteDelivery, TABLES } from './checks.ts';

const DEAD = 'rollmesh-conformance-dead';

export default {
  async fetch(request, env, context): Promise<Response> {
    const given = request.headers.get('authorization');
    if (!env.CONFORMANCE_TOKEN || given !== `Bearer ${env.CONFORMANCE_TOKEN}`)
      return Response.json({ error: 'token.wrong' }, { status: 401 });
    const name = new URL(request.url).pathname.slice(1);
    if (name === '') return Response.json({ checks: CHECKS.map(({ run: _, ...said }) => said) });
    const found = CHECKS.find((one) => one.name === name);
    if (!found || request.method !== 'POST')
      return Response.json({ error: 'check.unknown' }, { status: 404 });
    await env.DB.batch(TABLES.map((table) => env.DB.prepare(table)));
    const mark = `${name}/${crypto.randomUUID()}`;
    try {
      await found.run(env, mark, (work) => context.waitUntil(work));
      return Response.json({ holds: true, seen: null });
    } catch (error) {
      return Response.json({ holds: false, seen: String(error).slice(0, 500) });
    }
  },
  async queue(batch, env): Promise<void> {
    for (const message of batch.messages)
      if (await noteDelivery(env, message, batch.queue === DEAD)) message.retry();
      else message.ack();
  },
} satisfies ExportedHandler<ConformanceEnv>;
