/** `npm run site [FOLDER]`: writes the documentation as a static site, with the page /try; FOLDER is `dist-site` by default. A link that leads nowhere ends it with an error. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildTryPage } from '../../local/mesh/tab-pages.ts';
import { documentOf, type Link, type NavigationSection, type Page, renderPage } from './pages.ts';

const inFolder = (folder: string, ending: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => `${folder}/${name}`);

/** The pages that docs/README.md lists under a heading, in its order. */
function sectionsOf(index: string): NavigationSection[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...rest] = section.split('\n');
      const sources = [...rest.join('\n').matchAll(/^\| \[[^\]]+\]\(([^)#]+)\)/gm)].map(
        ([, href]) => `docs/${href}`,
      );
      return { title, sources: sources.filter((source) => source.endsWith('.md')) };
    })
    .filter(({ sources }) => sources.length > 0);
}

/** The links that lead to no file, no folder, or to no heading of a page. */
function brokenLinks(links: readonly Link[], pages: ReadonlyMap<string, Page>): Link[] {
  return links.filter(({ target, anchor }) => {
    if (!existsSync(target)) return true;
    const page = pages.get(target);
    return anchor !== '' && page !== undefined && !page.anchors.has(anchor);
  });
}

/** Makes the site of the repository in the working directory. */
export function buildSite(): {
  readonly files: ReadonlyMap<string, string>;
  readonly copied: readonly string[];
  readonly broken: readonly Link[];
} {
  const sources = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    ...['docs', 'docs/decisions'].flatMap((folder) => inFolder(folder, '.md')),
  ];
  const copied = [
    ...inFolder('docs', '.svg'),
    ...inFolder('docs', '.webp'),
    'docs/monitoring/grafana.json',
    'web/dashboard/openapi.json',
  ];
  const site = { pages: new Set(sources), files: new Set(copied) };
  const rendered = sources.map((source) => renderPage(source, readFileSync(source, 'utf8'), site));
  const pages = new Map(rendered.map(({ page }) => [page.source, page]));
  const sections = [
    { title: 'rollmesh', sources: ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'] },
    ...sectionsOf(readFileSync('docs/README.md', 'utf8')),
  ];
  return {
    files: new Map([...pages.values()].map((page) => [page.path, documentOf(page, pages, sections)])),
    copied,
    broken: brokenLinks(
      rendered.flatMap(({ links }) => links),
      pages,
    ),
  };
}

async function write(folder: string): Promise<void> {
  const { files, copied, broken } = buildSite();
  for (const { page, target, anchor } of broken)
    console.error(`${page}: ${target}${anchor && `#${anchor}`} leads nowhere`);
  if (broken.length) process.exit(1);
  rmSync(folder, { recursive: true, force: true });
  const place = (path: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    return join(folder, path);
  };
  for (const [path, html] of files) writeFileSync(place(path), html);
  for (const path of copied) copyFileSync(path, place(path));
  copyFileSync('web/site/site.css', place('site.css'));
  await buildTryPage(join(folder, 'try'), '../docs/glossary.html');
  console.log(`${files.size} pages and the page /try are in ${folder}.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await write(process.argv[2] ?? 'dist-site');
