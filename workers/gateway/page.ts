/** Serves the dashboard: static files under a content security policy that lets them run no other code and contact no other host. */
import { createMiddleware } from 'hono/factory';
import { notFound } from './parameters.ts';
import type { GatewayTypes } from './services.ts';

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The pages /node and /try also compile kernels, in threads of their own. */
const COMPUTING_POLICY = `${PAGE_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")}; worker-src 'self'`;

const isUnder = (page: string, path: string) => path === page || path.startsWith(`${page}/`);

/** The page /try is isolated from others, so that its learner may share memory between threads, whose code it makes itself. */
const ISOLATED = {
  'content-security-policy': `${COMPUTING_POLICY} blob:`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** The headers of every answer. Nothing of the page /node is kept by the browser. */
export const securityHeaders = (path: string): Readonly<Record<string, string>> => ({
  'content-security-policy': isUnder('/node', path) ? COMPUTING_POLICY : PAGE_POLICY,
  ...(isUnder('/node', path) ? { 'cache-control': 'no-store' } : {}),
  ...(isUnder('/try', path) ? ISOLATED : {}),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
});

/** Answers GET for a file of the dashboard; anything else is not found. */
export const page = createMiddleware<GatewayTypes>(async function page(c) {
  // A folder's address without its last slash is redirected: the files beside the page are found by the address that the browser has.
  const asked = new Request(c.req.url, { headers: c.req.raw.headers, redirect: 'manual' });
  const found = await c.var.services.assets.fetch(asked);
  if (found.status === 404) throw notFound('route', c.req.path);
  return new Response(found.body, found);
});
