/** The rules, as pure functions, for which requests a port of the local mesh accepts, and with which headers they are passed on. */

import { isOpenToPages } from '../../core/net/cross-origin.ts';

/** The parts of an HTTP request that say who the caller is. */
interface Caller {
  readonly url: string;
  readonly headers: Pick<Headers, 'get'>;
}

export interface Refusal {
  readonly code: 'host.foreign' | 'origin.foreign' | 'page.foreign';
  readonly message: string;
  readonly expected: string;
  readonly next: string;
}

/** The host name in a `Host` header, without its port; null if the header is not valid. */
function hostnameOf(host: string): string | null {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return null;
  }
}

/**
 * Does a browser say that a page of another site or port caused the request? Images, scripts, frames and requests without CORS have no Origin. The
 * browser's own address line, bookmarks (`none`) and links that open the page as a tab's document are let in; what is fetched beforehand is no link.
 */
function isOfForeignPage(headers: Caller['headers']): boolean {
  const site = headers.get('sec-fetch-site');
  if (site === null || site === 'same-origin' || site === 'none') return false;
  const opens = headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document';
  return !opens || headers.get('sec-purpose') !== null;
}

/**
 * Why a request is refused; null if it is accepted. `hosts` are the names and addresses of this machine, as URLs write them; `pages` are the
 * origins whose pages may call the model endpoints; `outside` is the origin by which a proxy in front is reached, such as https://mesh.example.org.
 */
export function foreignCaller(
  { url, headers }: Caller,
  hosts: readonly string[],
  pages: readonly string[] = [],
  outside?: string,
): Refusal | null {
  const host = headers.get('host') ?? new URL(url).host;
  const own = isFromOutside(host, outside) ? outside : `http://${host}`;
  const asked = [hostnameOf(host), new URL(url).hostname];
  const known = outside === undefined ? hosts : [...hosts, new URL(outside).hostname];
  if (!asked.every((name) => name !== null && known.includes(name)))
    return {
      code: 'host.foreign',
      message: `The request is for the host ${host.slice(0, 100)}, and the local mesh answers for this machine alone.`,
      expected: `one of ${known.join(', ')}`,
      next: `Open http://${hosts[0]} with the port of the mesh.`,
    };
  const origin = headers.get('origin');
  const isNamed = origin !== null && pages.includes(origin) && isOpenToPages(new URL(url).pathname);
  if (origin !== null && origin !== own && !isNamed)
    return {
      code: 'origin.foreign',
      message: `The request comes from a page of ${origin.slice(0, 100)}, and the local mesh answers its own page alone.`,
      expected: `no Origin header, or ${own}`,
      next: 'Call the mesh from a program, or from its own page; CORS_ORIGINS in .dev.vars names pages that may call its model endpoints.',
    };
  if (!isNamed && isOfForeignPage(headers))
    return {
      code: 'page.foreign',
      message: `The request comes from a page of another site (Sec-Fetch-Site: ${headers.get('sec-fetch-site')?.slice(0, 40)}), and the local mesh answers its own page alone.`,
      expected: 'a program, the mesh’s own page, or a link that opens it',
      next: 'Open the mesh’s page in a tab of its own.',
    };
  return null;
}

/** Was the request addressed to the proxy in front? */
const isFromOutside = (host: string, outside: string | undefined): boolean =>
  outside !== undefined && host === new URL(outside).host;

/** The address that the caller used: behind a proxy that ends TLS, the mesh hears http and the name alone. */
export function askedUrl({ url, headers }: Caller, outside?: string): string {
  const host = headers.get('host') ?? new URL(url).host;
  if (!isFromOutside(host, outside)) return url;
  const { pathname, search } = new URL(url);
  return `${outside}${pathname}${search}`;
}

/** The headers without those that control Miniflare (`MF-…`) and the one in which Cloudflare gives the caller’s address. */
export function trustedHeaders(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const [name] of headers) if (name.startsWith('mf-') || name === 'cf-connecting-ip') kept.delete(name);
  return kept;
}
