/**
 * Does in the local mesh what only the process that started it may ask for: statements of the migrations, and ticks of the clock. Through
 * Miniflare's proxy each of them holds that process up, and the first one loads an HTTP client into a thread of its own. A door is in front of it, as of
 * the others that have a port.
 */
interface Env {
  readonly DB: D1Database;
  readonly GATEWAY: Fetcher & { scheduled(event: { cron: string }): Promise<unknown> };
  /** What the process alone knows. */
  readonly SECRET: string;
}

export default {
  async fetch(request, env) {
    if (request.headers.get('authorization') !== `Bearer ${env.SECRET}`)
      return Response.json(null, { status: 403 });
    const said = await request.text();
    try {
      switch (new URL(request.url).pathname) {
        case '/exec':
          return Response.json(await env.DB.exec(said));
        case '/all':
          return Response.json((await env.DB.prepare(said).all()).results);
        case '/tick':
          await env.GATEWAY.scheduled({ cron: '* * * * *' });
          return Response.json(null);
        default:
          return Response.json(null, { status: 404 });
      }
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error), { status: 500 });
    }
  },
} satisfies ExportedHandler<Env>;
