/** `npm run reference`: writes docs/api.md and dashboard/openapi.json. */
import { readFileSync, writeFileSync } from 'node:fs';
import { openApi } from './openapi.ts';
import { referencePage } from './page.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
writeFileSync('docs/api.md', referencePage());
writeFileSync('dashboard/openapi.json', `${JSON.stringify(openApi(version), null, 1)}\n`);
