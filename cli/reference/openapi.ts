/** The table of routes as an OpenAPI 3.1 document, by hono-openapi: an app that has the table's routes and answers nothing describes itself. */
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import { Hono } from 'hono';
import { type DescribeRouteOptions, describeRoute, generateSpecs, validator } from 'hono-openapi';
import type * as v from 'valibot';
import * as agent from '../../core/schema/agent.ts';
import * as answers from '../../core/schema/answers.ts';
import * as policy from '../../core/schema/policy.ts';
import * as report from '../../core/schema/report.ts';
import * as round from '../../core/schema/round.ts';
import * as work from '../../core/schema/work.ts';
import { CALLERS, type Caller, ROUTES, type RouteReference } from '../../workers/api/routes.ts';

type Json = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is v.GenericSchema =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema';

/** The object schemas that have a name in core/schema. */
const DEFINITIONS: Readonly<Record<string, v.GenericSchema>> = Object.fromEntries(
  Object.entries<unknown>({ ...policy, ...report, ...round, ...answers, ...work, ...agent })
    .filter((entry): entry is [string, v.GenericSchema] => {
      const [, value] = entry;
      return isSchema(value) && /object|variant/.test(value.type);
    })
    .sort(([a], [b]) => (a < b ? -1 : 1)),
);
export const SCHEMAS: ReadonlyMap<v.GenericSchema, string> = new Map(
  Object.entries(DEFINITIONS).map(([name, schema]) => [schema, name]),
);

/** What is sent, as JSON Schema. Checks that JSON Schema cannot say, such as sums over fields, are left out. */
const CONVERSION: ConversionConfig = {
  typeMode: 'input',
  errorMode: 'ignore',
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

function schemaOf(schema: v.GenericSchema): Json {
  const name = SCHEMAS.get(schema);
  if (name) return { $ref: `#/components/schemas/${name}` };
  const { $schema, $defs, ...rest } = toJsonSchema(schema, { ...CONVERSION, definitions: DEFINITIONS });
  return rest;
}

const MEDIA = { bytes: 'application/octet-stream', text: 'text/plain', events: 'text/event-stream' } as const;

function content(body: NonNullable<RouteReference['body']>): Record<string, { schema: object }> {
  if (typeof body === 'string') return { [MEDIA[body]]: { schema: { type: 'string' } } };
  return { 'application/json': { schema: schemaOf(body) } };
}

/** The security schemes that open a route to its caller; `{}` means that none is needed. */
const SECURITY: Readonly<Record<Caller, Record<string, string[]>[]>> = {
  everyone: [],
  signer: [{ signer: [] }],
  reader: [{}, { reader: [] }, { learner: [] }],
  caller: [{}, { reader: [] }, { learner: [] }],
  environments: [{}, { environments: [] }, { reader: [] }, { learner: [] }],
  learner: [{ learner: [] }],
  node: [{ node: [] }],
  agents: [{ agents: [] }],
  agent: [{ agent: [] }],
};

const operationOf = (tag: string, route: RouteReference): DescribeRouteOptions => ({
  tags: [tag],
  summary: route.does,
  security: SECURITY[route.who],
  ...(route.body === undefined ? {} : { requestBody: { required: true, content: content(route.body) } }),
  responses: {
    [String(route.status ?? 200)]: {
      description: 'Success.',
      ...(route.answer === undefined ? {} : { content: content(route.answer) }),
    },
    default: {
      description: 'A refusal or a failure, by its code.',
      content: { 'application/json': { schema: schemaOf(answers.refusal) } },
    },
  },
});

const withoutLinks = (heading: string): string => heading.replace(/ \(see .*\)$/, '');

/** The rest of a path is one parameter. */
const inFull = (path: string): string => path.replace('*', ':key{.+}');

/** @param version the version of the package */
export function openApi(version: string) {
  const app = new Hono();
  for (const [heading, routes] of Object.entries(ROUTES))
    for (const route of routes)
      app.on(
        route.method,
        inFull(route.path),
        describeRoute(operationOf(withoutLinks(heading), route)),
        ...(route.query ? [validator('query', route.query)] : []),
      );
  const bearer = (who: Caller) => ({ type: 'http', scheme: 'bearer', description: CALLERS[who] }) as const;
  const apiKey = (who: Caller, name: string) =>
    ({ type: 'apiKey', in: 'header', name, description: CALLERS[who] }) as const;
  return generateSpecs(app, {
    excludeStaticFile: false,
    defaultValidationErrorResponse: false,
    documentation: {
      info: {
        title: 'rollmesh gateway',
        description: 'The HTTP interface of a mesh.',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: Object.keys(ROUTES).map((heading) => ({ name: withoutLinks(heading) })),
      components: {
        securitySchemes: {
          signer: apiKey('signer', 'webhook-signature'),
          environments: apiKey('environments', 'x-api-key'),
          reader: bearer('reader'),
          learner: bearer('learner'),
          node: bearer('node'),
          agents: bearer('agents'),
          agent: bearer('agent'),
        },
        schemas: toJsonSchemaDefs(DEFINITIONS, CONVERSION) as Record<string, object>,
      },
    },
  });
}

/** The description as a file: a line for each path and each schema, which a package has in half the bytes of an indented one. */
export async function openApiFile(version: string): Promise<string> {
  const { components, paths, ...head } = await openApi(version);
  const lines = (entries: object): string =>
    Object.entries(entries)
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',\n');
  const parts = Object.entries(components).map(
    ([name, those]) => `${JSON.stringify(name)}:{\n${lines(those)}\n}`,
  );
  return `${JSON.stringify(head).slice(0, -1)},\n"components":{${parts.join(',\n')}},\n"paths":{\n${lines(paths)}\n}}\n`;
}
