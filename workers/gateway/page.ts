/** Serves the dashboard: static files under a content security policy that lets them run no other code and contact no other host. */
import { createMiddleware } from 'hono/factory';
import { notFound } from './parameters.ts';
import type { GatewayTypes } from './services.ts';

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The page /node also compiles its kernels, in a thread of its own. */
const NODE_POLICY = `${PAGE_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")}; worker-src 'self'`;

/** The headers of every answer. Nothing of the page /node is kept by the browser. */
export const securityHeaders = (path: string): Readonly<Record<string, string>> => ({
  'content-security-policy': /^\/node(?:\/|$)/.test(path) ? NODE_POLICY : PAGE_POLICY,
  ...(/^\/node(?:\/|$)/.test(path) ? { 'cache-control': 'no-store' } : {}),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
});

/** Answers GET for a file of the dashboard; anything else is not found. */
export const page = createMiddleware<GatewayTypes>(async function page(c) {
  const found = await c.var.services.assets.fetch(new Request(c.req.url, { headers: c.req.raw.headers }));
  if (found.status === 404) throw notFound('route', c.req.path);
  return new Response(found.body, found);
});
