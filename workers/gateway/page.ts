/** The page: static files, under a policy that lets them run nothing else and talk to nobody else. */
import { createMiddleware } from 'hono/factory';
import { notFound } from './parameters.ts';
import type { GatewayTypes } from './services.ts';

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/** GET of a file of the dashboard; anything else is no route of ours. */
export const page = createMiddleware<GatewayTypes>(async function page(c) {
  const found = await c.var.services.assets.fetch(new Request(c.req.url, { headers: c.req.raw.headers }));
  if (found.status === 404) throw notFound('route', c.req.path);
  return new Response(found.body, found);
});
