/** The rules of the door, by hand-made requests: who is let in and what is taken off. */
import { expect, test } from 'vitest';
import { askedUrl, foreignCaller, trustedHeaders } from '../../local/mesh/access-rules.ts';

const HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
const caller = (headers: Record<string, string>, url = 'http://127.0.0.1:8787/') => ({
  url,
  headers: new Headers(headers),
});

test.each([
  [{ host: '127.0.0.1:8787' }],
  [{ host: 'localhost' }],
  [{ host: '[::1]:1' }],
  [{}],
  [{ host: 'localhost:8787', origin: 'http://localhost:8787' }],
])('%o is let in', (headers: Record<string, string>) => {
  expect(foreignCaller(caller(headers), HOSTS)).toBeNull();
});

test.each([
  [{ host: 'rebind.evil.example' }],
  [{ host: 'localhost.evil.example:8787' }],
  [{ host: '127.0.0.1.evil.example' }],
  [{ host: '127.0.0.1@evil.example' }],
  [{ host: '127.0.0.2' }],
  [{ host: '' }],
])('the host in %o is refused', (headers: Record<string, string>) => {
  expect(foreignCaller(caller(headers), HOSTS)?.code).toBe('host.foreign');
});

test('the address of an absolute request target counts as well as the Host header', () => {
  const refusal = foreignCaller(caller({ host: '127.0.0.1' }, 'http://evil.example/'), HOSTS);
  expect(refusal?.code).toBe('host.foreign');
});

test.each([
  'http://evil.example',
  'null',
  'http://127.0.0.1:9',
  'https://127.0.0.1:8787',
  'http://localhost:8787',
])('the origin %s is refused', (origin) => {
  expect(foreignCaller(caller({ host: '127.0.0.1:8787', origin }), HOSTS)?.code).toBe('origin.foreign');
});

test('a page that is named may call the model endpoints, and nothing else', () => {
  const named = ['https://page.example'];
  const asked = (path: string, origin: string) =>
    foreignCaller(caller({ host: '127.0.0.1:8787', origin }, `http://127.0.0.1:8787${path}`), HOSTS, named);
  for (const path of ['/v1/models', '/inference/v1/generate', '/agents/episodes/x/v1/models'])
    expect(asked(path, 'https://page.example')).toBeNull();
  for (const path of ['/', '/api/runs', '/metrics', '/hooks/rounds', '/v1', '/v1x/models', '/api/../metrics'])
    expect(asked(path, 'https://page.example')?.code).toBe('origin.foreign');
  for (const origin of ['https://page.example:1', 'http://page.example', 'https://page.example.evil', 'null'])
    expect(asked('/v1/models', origin)?.code).toBe('origin.foreign');
});

test('behind a proxy: its name and the pages of its origin beside those of the machine, and the address that the caller used', () => {
  const outside = 'https://mesh.example';
  const at = (headers: Record<string, string>) =>
    foreignCaller(caller(headers), HOSTS, [], outside)?.code ?? null;
  expect(at({ host: 'mesh.example' })).toBeNull();
  expect(at({ host: 'mesh.example', origin: outside })).toBeNull();
  expect(at({ host: '127.0.0.1:8787', origin: 'http://127.0.0.1:8787' })).toBeNull();
  for (const host of ['other.example', 'mesh.example.evil', 'xmesh.example'])
    expect(at({ host }), host).toBe('host.foreign');
  for (const origin of ['http://mesh.example', 'https://mesh.example:8', 'https://evil.example', 'null'])
    expect(at({ host: 'mesh.example', origin }), origin).toBe('origin.foreign');
  // A page of the proxy's has no business at the machine's own address.
  expect(at({ host: '127.0.0.1:8787', origin: outside })).toBe('origin.foreign');
  expect(foreignCaller(caller({ host: 'mesh.example' }), HOSTS)?.code).toBe('host.foreign');
  const asked = (host: string, by?: string) => askedUrl(caller({ host }, `http://${host}/agents/x?a=1`), by);
  expect(asked('mesh.example', outside)).toBe('https://mesh.example/agents/x?a=1');
  expect(asked('127.0.0.1:8787', outside)).toBe('http://127.0.0.1:8787/agents/x?a=1');
  expect(asked('mesh.example')).toBe('http://mesh.example/agents/x?a=1');
});

/** What Chromium sends for what a page does, by the page's site. */
const sent = (site: string, mode: string, dest: string, more: Record<string, string> = {}) =>
  foreignCaller(
    caller({
      host: '127.0.0.1:8787',
      'sec-fetch-site': site,
      'sec-fetch-mode': mode,
      'sec-fetch-dest': dest,
      ...more,
    }),
    HOSTS,
  )?.code;

test.each([
  ['no-cors', 'image'],
  ['no-cors', 'script'],
  ['no-cors', 'empty'],
  ['cors', 'empty'],
  ['websocket', 'websocket'],
  ['navigate', 'iframe'],
  ['navigate', 'frame'],
  ['navigate', 'object'],
  ['navigate', 'embed'],
  ['nested-navigate', 'document'],
])('what another page fetches as %s for %s is refused, and what our own does is not', (mode, dest) => {
  for (const site of ['cross-site', 'same-site']) expect(sent(site, mode, dest)).toBe('page.foreign');
  for (const site of ['same-origin', 'none']) expect(sent(site, mode, dest)).toBeUndefined();
});

test('a link opens the page, and what is fetched beforehand is no link', () => {
  expect(sent('cross-site', 'navigate', 'document')).toBeUndefined();
  expect(sent('cross-site', 'navigate', 'document', { 'sec-purpose': 'prefetch' })).toBe('page.foreign');
});

test('what is Miniflare’s and Cloudflare’s to say is taken off, the rest stays', () => {
  const kept = trustedHeaders(
    new Headers({
      'MF-Route-Override': 'rollmesh-judge',
      'MF-CF-Blob': '{',
      'CF-Connecting-IP': '1.2.3.4',
      accept: 'x',
    }),
  );
  expect([...kept]).toEqual([['accept', 'x']]);
});
