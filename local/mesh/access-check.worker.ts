/**
 * The Worker at each port of the local mesh. It accepts only requests that are addressed to this machine by name and do not come
 * from a foreign page, so that a web site whose name resolves to 127.0.0.1 (DNS rebinding) gets nothing. It also removes the headers
 * with which a caller could pose as Cloudflare or Miniflare. In a deployed mesh, Cloudflare's edge takes its place.
 */
import { askedUrl, foreignCaller, trustedHeaders } from './access-rules.ts';

interface Env {
  readonly INNER: Fetcher;
  /** The names and addresses of this machine, as URLs write them. */
  readonly HOSTS: readonly string[];
  /** Origins whose pages may call the model endpoints. */
  readonly PAGES: readonly string[];
  /** The origin of a proxy in front; empty where there is none. */
  readonly OUTSIDE: string;
}

export default {
  fetch(request, env) {
    const outside = env.OUTSIDE || undefined;
    const refusal = foreignCaller(request, env.HOSTS, env.PAGES, outside);
    if (refusal) return Response.json(refusal, { status: 403, headers: { connection: 'close' } });
    const asked = new Request(askedUrl(request, outside), request);
    return env.INNER.fetch(new Request(asked, { headers: trustedHeaders(request.headers) }));
  },
} satisfies ExportedHandler<Env>;
