/**
 * A page of another origin in a real browser: whatever it can make the browser ask of a local mesh is refused at the door and counted nowhere, so that
 * webhooks and the mesh's own page come through beside it.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { openScene, type Scene } from '../mesh/scene.ts';

/** Answered requests a minute of a webhook or a search, as wrangler.toml has it. */
const LIMIT = 60;

describe.skipIf(!chromiumPath)(`a page of another origin${CHROMIUM_NEEDED}`, () => {
  let scene: Scene;
  let browser: Browser;
  let foreign: Server;
  let port: number;
  beforeAll(async () => {
    scene = await openScene({ rateLimit: LIMIT });
    browser = await openBrowser();
    foreign = createServer((request, response) => {
      if (request.url === '/to-mesh')
        response.writeHead(302, { location: `${scene.mesh.url}/metrics` }).end();
      else response.setHeader('content-type', 'text/html').end('<!doctype html><body></body>');
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    port = (foreign.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await browser?.close();
    foreign?.close();
    await scene?.stop();
  });

  // Another site, and another port of the same one.
  test.each(['localhost', '127.0.0.1'])('at %s: no way to ask gets an answer', async (host) => {
    const page = await browser.newPage();
    // What the browser hides from pages and from `response`, such as answers without CORS, stands in the protocol's events.
    const protocol = await page.context().newCDPSession(page);
    // The two events of one request come in either order; a request that is redirected has both once more.
    const urls = new Map<string, string[]>();
    const statuses = new Map<string, number[]>();
    const seen: [string, number][] = [];
    const note = <T>(map: Map<string, T[]>, id: string, value: T) =>
      map.set(id, [...(map.get(id) ?? []), value]);
    protocol.on('Network.requestWillBeSent', ({ requestId, request }) => note(urls, requestId, request.url));
    protocol.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) =>
      note(statuses, requestId, statusCode),
    );
    page.on('response', (response) => seen.push([response.url(), response.status()]));
    const ofMesh = () => {
      const answers = [...statuses].flatMap(([id, of]) =>
        of.map((status, i): [string, number] => [urls.get(id)?.[i] ?? '', status]),
      );
      return [...answers, ...seen].filter(([url]) => url.startsWith(scene.mesh.url));
    };
    await protocol.send('Network.enable');
    await page.goto(`http://${host}:${port}/`);
    const ways = await page.evaluate(async (mesh) => {
      const at = (way: string) => `${mesh}/api/runs?way=${way}`;
      const element = (tag: string, attributes: Record<string, string>) =>
        new Promise<string>((resolve) => {
          const made = Object.assign(document.createElement(tag), attributes);
          made.addEventListener('load', () => resolve('loaded'));
          made.addEventListener('error', () => resolve('failed'));
          document.body.append(made);
        });
      const failed = (asked: Promise<unknown>) =>
        asked.then(
          () => 'answered',
          () => 'failed',
        );
      const stream = (source: WebSocket | EventSource) =>
        new Promise<string>((resolve) => {
          source.addEventListener('open', () => resolve('open'));
          source.addEventListener('error', () => resolve('failed'));
        });
      const socket = stream(new WebSocket(`${mesh.replace('http', 'ws')}/api/events`));
      const events = stream(new EventSource(at('events')));
      const form = (method: string) => {
        const frame = document.createElement('iframe');
        frame.name = `frame-${method}`;
        const made = Object.assign(document.createElement('form'), {
          method,
          action: method === 'post' ? `${mesh}/hooks/rounds` : `${mesh}/api/runs`,
          target: frame.name,
        });
        document.body.append(frame, made);
        made.submit();
        return new Promise<string>((resolve) => frame.addEventListener('load', () => resolve('loaded')));
      };
      const result = {
        image: await element('img', { src: at('image') }),
        script: await element('script', { src: at('script') }),
        style: await element('link', { rel: 'stylesheet', href: at('style') }),
        redirected: await element('img', { src: '/to-mesh' }),
        fetch: await failed(fetch(at('fetch'))),
        withHeader: await failed(fetch(at('header'), { headers: { authorization: 'Bearer x' } })),
        post: await failed(fetch(`${mesh}/hooks/rounds`, { method: 'POST', body: '{}' })),
        socket: await socket,
        events: await events,
      };
      // Opaque: the page cannot tell a refusal from an answer. Nor of frames.
      await fetch(at('no-cors'), { mode: 'no-cors' });
      navigator.sendBeacon(`${mesh}/hooks/rounds`, '{}');
      await element('iframe', { src: at('frame') });
      await form('get');
      await form('post');
      return result;
    }, scene.mesh.url);
    expect(ways).toEqual({
      image: 'failed',
      script: 'failed',
      style: 'failed',
      redirected: 'failed',
      fetch: 'failed',
      withHeader: 'failed',
      post: 'failed',
      socket: 'failed',
      events: 'failed',
    });
    const asked = () =>
      ofMesh().map(([url]) => new URL(url).searchParams.get('way') ?? new URL(url).pathname);
    for (const way of [
      'image',
      'script',
      'style',
      'fetch',
      'no-cors',
      'events',
      'frame',
      '/api/runs',
      '/hooks/rounds',
      '/metrics',
    ])
      await expect.poll(asked, { timeout: 60_000 }).toContain(way);
    expect(ofMesh().filter(([, status]) => status !== 403)).toEqual([]);
    await page.close();
  });

  test('webhooks and the own page come through beside 25 images a second; a link opens the page', async () => {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${port}/`);
    await page.evaluate((mesh) => {
      let n = 0;
      setInterval(() => {
        new Image().src = `${mesh}/api/samples/${(n++).toString(16).padStart(32, '0')}`;
        document.title = String(n);
      }, 40);
    }, scene.mesh.url);
    // More than twice the limit has been asked for.
    await page.waitForFunction((asked) => Number(document.title) > asked, 2 * LIMIT + 10);
    const body = JSON.stringify({ recipe: 'trio', seed: 5, rounds: 1, tasks: 1, groupSize: 2 });
    expect((await scene.hook(body)).status).toBe(202);
    expect((await fetch(`${scene.mesh.url}/api/samples/${'f'.repeat(32)}`)).status).toBe(404);
    await page.evaluate((mesh) => {
      location.href = mesh;
    }, scene.mesh.url);
    await page.waitForURL(`${scene.mesh.url}/`);
    await page.waitForSelector('#title');
  });
});
