/** The reference of the HTTP interface: it has every route of the gateway and no other, and its two files are those that the table makes. */
import { readFileSync } from 'node:fs';
import { hc } from 'hono/client';
import { expect, test } from 'vitest';
import { glossaryPage } from '../../cli/reference/glossary.ts';
import { openApi, openApiFile } from '../../cli/reference/openapi.ts';
import { referencePage } from '../../cli/reference/page.ts';
import { recipesPage } from '../../cli/reference/recipes.ts';
import { startHashes } from '../../cli/reference/starts.ts';
import { type Gateway, ROUTES } from '../../workers/api/routes.ts';

type Route = { readonly method: string; readonly path: string };

const told = Object.values(ROUTES).flat();
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

test('the table has every route of the gateway and no other', async () => {
  // The types of the Workers' platform are of another program than the tests'.
  const gateway: string = '../../workers/gateway/app.ts';
  const { gatewayApp } = await import(gateway);
  // Middleware has no method of its own; the last route is the page with its files.
  const routes = (gatewayApp({}) as { routes: Route[] }).routes.filter(
    ({ method, path }) => method !== 'ALL' && path !== '/*',
  );
  expect(routes.length).toBeGreaterThan(40);
  expect(told.map(nameOf).sort()).toEqual([...new Set(routes.map(nameOf))].sort());
});

test('docs/api.md, docs/recipes.md, local/start-hashes.ts, web/dashboard/openapi.json and the page /glossary/ are those that `npm run reference` writes', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(readFileSync('docs/api.md', 'utf8')).toBe(referencePage());
  expect(readFileSync('docs/recipes.md', 'utf8')).toBe(recipesPage());
  expect(readFileSync('local/start-hashes.ts', 'utf8')).toBe(startHashes());
  expect(readFileSync('web/dashboard/openapi.json', 'utf8')).toBe(await openApiFile(version));
  expect(JSON.parse(await openApiFile(version))).toEqual(JSON.parse(JSON.stringify(await openApi(version))));
  expect(readFileSync('web/dashboard/glossary/index.html', 'utf8')).toBe(glossaryPage());
});

test('every place that the page links to is in the glossary', () => {
  const terms = readFileSync('web/dashboard/terms.js', 'utf8').split('const PLACES')[1]!;
  const places = [...terms.matchAll(/^ {2}.+: '([a-z-]+)',$/gm)].map(([, place]) => place!);
  expect(places.length).toBeGreaterThan(60);
  const there = new Set([...glossaryPage().matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!));
  expect(places.filter((place) => !there.has(place))).toEqual([]);
});

/** `:name` as OpenAPI writes it; the rest of a path is one parameter. */
const openApiPath = (path: string) => path.replace(/:(\w+)/g, '{$1}').replace('*', '{key}');

test('every path, parameter and reference of the document is there', async () => {
  const document = JSON.parse(JSON.stringify(await openApi('0.0.0')));
  for (const { method, path } of told) {
    const operation = document.paths[openApiPath(path)][method.toLowerCase()];
    const parameters = (operation.parameters ?? []) as { name: string; in: string; required?: boolean }[];
    const named = parameters.filter((parameter) => parameter.in === 'path');
    expect(named.map(({ name }) => `{${name}}`)).toEqual(openApiPath(path).match(/\{\w+\}/g) ?? []);
    expect(named.every(({ required }) => required)).toBe(true);
  }
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(60);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name!);
  const order = document.paths['/hooks/rounds'].post.requestBody.content['application/json'].schema;
  expect(order).toMatchObject({
    type: 'object',
    required: ['recipe'],
    properties: { groupSize: { type: 'integer', minimum: 2, maximum: 64 }, ahead: { type: 'integer' } },
  });
  expect(document.paths['/api/rounds'].get.parameters).toContainEqual(
    expect.objectContaining({
      name: 'open',
      in: 'query',
      schema: expect.objectContaining({ enum: ['true', 'false'] }),
    }),
  );
});

test('a client of the table asks for what the table has, and nothing else compiles', async () => {
  const asked: string[] = [];
  const { api } = hc<Gateway>('http://mesh', {
    fetch: async (url: string | URL | Request, request?: RequestInit) => {
      asked.push(`${request?.method} ${url} ${request?.body ?? ''}`.trimEnd());
      return new Response();
    },
  });
  await api.rounds.$get({ query: { run: 'r', limit: '3', before: undefined } });
  await api.runs[':id'].stop.$post({ param: { id: 'r' }, json: { reason: 'enough' } });
  await api.objects[':key{.+}'].$get({ param: { key: 'rounds/a/scored.json' } });
  expect(asked).toEqual([
    'GET http://mesh/api/rounds?run=r&limit=3',
    'POST http://mesh/api/runs/r/stop {"reason":"enough"}',
    'GET http://mesh/api/objects/rounds/a/scored.json',
  ]);
  // @ts-expect-error There is no such route.
  api.nowhere;
  // @ts-expect-error A run is stopped by POST.
  api.runs[':id'].stop.$put;
  // @ts-expect-error There is no such query.
  await api.rounds.$get({ query: { runs: 'r' } });
  // @ts-expect-error An order to stop has a reason.
  await api.runs[':id'].stop.$post({ param: { id: 'r' }, json: {} });
});
