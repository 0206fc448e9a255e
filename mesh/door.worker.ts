/**
 * The Worker at each port of the local mesh. It lets in who asks for this machine by name and comes from no foreign page, so
 * that a web site whose name is turned to 127.0.0.1 (DNS rebinding) gets nothing; and it takes off the headers by which a
 * caller could pass for Cloudflare or for Miniflare. Deployed, Cloudflare's edge stands in its place.
 */
import { foreignCaller, trustedHeaders } from './door-rules.ts';

interface Env {
  readonly INNER: Fetcher;
  /** Names and addresses of this machine, as URLs write them. */
  readonly HOSTS: readonly string[];
}

export default {
  fetch(request, env) {
    const refusal = foreignCaller(request, env.HOSTS);
    if (refusal) return Response.json(refusal, { status: 403, headers: { connection: 'close' } });
    return env.INNER.fetch(new Request(request, { headers: trustedHeaders(request.headers) }));
  },
} satisfies ExportedHandler<Env>;
