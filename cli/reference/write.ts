/** `npm run reference`: writes docs/api.md, docs/recipes.md, local/start-hashes.ts, web/dashboard/openapi.json and the page /glossary/. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { glossaryPage } from './glossary.ts';
import { openApiFile } from './openapi.ts';
import { referencePage } from './page.ts';
import { recipesPage } from './recipes.ts';
import { startHashes } from './starts.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
writeFileSync('docs/api.md', referencePage());
writeFileSync('docs/recipes.md', recipesPage());
writeFileSync('local/start-hashes.ts', startHashes());
writeFileSync('web/dashboard/openapi.json', await openApiFile(version));
mkdirSync('web/dashboard/glossary', { recursive: true });
writeFileSync('web/dashboard/glossary/index.html', glossaryPage());
