/** The table of routes as a page of Markdown: docs/api.md. */
import type * as v from 'valibot';
import { CALLERS, ROUTES, type RouteReference } from '../../workers/api/routes.ts';
import { SCHEMAS } from './openapi.ts';

/** The fields of an object schema, those that may be left out with a question mark. */
function fieldsOf(schema: v.GenericSchema): string {
  const inner =
    'pipe' in schema ? (schema.pipe as v.GenericSchema[]).findLast((part) => 'entries' in part) : schema;
  if (!inner || !('entries' in inner)) return '';
  const entries = Object.entries(inner.entries as Readonly<Record<string, v.GenericSchema>>);
  const mayLack = ({ type }: v.GenericSchema) => ['optional', 'exact_optional', 'nullish'].includes(type);
  return `\`{ ${entries.map(([name, field]) => (mayLack(field) ? `${name}?` : name)).join(', ')} }\``;
}

const KINDS = { bytes: 'bytes', text: 'text', events: 'server-sent events' } as const;

function shown(body: RouteReference['body']): string {
  if (body === undefined) return '–';
  if (typeof body === 'string') return KINDS[body];
  const name = SCHEMAS.get(body);
  return [name && `**${name}**`, fieldsOf(body)].filter(Boolean).join(' ') || 'JSON';
}

function rowOf({ method, path, who, does, query, body, answer }: RouteReference): string {
  const takes = query ? `query ${fieldsOf(query)}` : shown(body);
  return `| \`${method} ${path}\` | ${who} | ${does} | ${takes} | ${shown(answer)} |`;
}

export function referencePage(): string {
  const sections = Object.entries(ROUTES).map(([heading, routes]) =>
    [
      `## ${heading}`,
      '',
      '| request | who | what it does | takes | answers |',
      '|---|---|---|---|---|',
      ...routes.map(rowOf),
      '',
    ].join('\n'),
  );
  return [
    '# The gateway’s HTTP interface',
    '',
    'Made by `npm run reference` from `workers/api/routes.ts`; a test holds it to the routes that the gateway has. The same as OpenAPI 3.1,',
    'with the schema of every field, is at `/openapi.json` of every mesh ([web/dashboard/openapi.json](../web/dashboard/openapi.json)). The schemas themselves',
    'are in `core/schema/`. Fields with a question mark may be left out.',
    '',
    'A refusal has one form, **refusal**: `{ error: { code, message, expected?, next? } }`, with a status of 4xx where the request is at fault and 5xx where the mesh is.',
    '',
    '| who | what the request carries |',
    '|---|---|',
    ...Object.entries(CALLERS).map(([who, carries]) => `| ${who} | ${carries} |`),
    '',
    ...sections,
  ].join('\n');
}
