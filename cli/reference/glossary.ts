/** The page /glossary/ of every mesh: docs/glossary.md, to which the page's terms are linked. */
import { readFileSync } from 'node:fs';
import { renderPage } from './markdown.ts';

/** The link to the icon that the mesh's page has; without one a browser asks for /favicon.ico, which there is not. */
function icon(): string {
  const [link] = /<link\s+rel="icon"[^>]*>/.exec(readFileSync('web/dashboard/index.html', 'utf8')) ?? [];
  if (!link) throw new Error('internal: web/dashboard/index.html has no icon.');
  return link.replaceAll(/\s+/g, ' ');
}

/** Links to other pages of the documentation become their text: a mesh has no place for them. */
export function glossaryPage(): string {
  const { page } = renderPage('docs/glossary.md', readFileSync('docs/glossary.md', 'utf8'), {
    pages: new Set(),
    files: new Set(),
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Glossary · rollmesh</title>
${icon()}
<link rel="stylesheet" href="/style.css">
<link rel="stylesheet" href="/tables.css">
</head>
<body>
<header><a class="wordmark" href="/">rollmesh</a></header>
<main class="glossary">
${page.html}</main>
</body>
</html>
`;
}
