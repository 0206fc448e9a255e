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
import { close as closePagefind, createIndex } from 'pagefind';
import {
  documentOf,
  type Extras,
  type Link,
  type NavigationSection,
  type Page,
  renderPage,
  sitePath,
} from '../../cli/reference/markdown.ts';
import { buildTryPage } from '../../local/mesh/tab-pages.ts';
import { recipeFields } from './recipe-fields.ts';
import { type MadePage, recipePages } from './recipe-pages.ts';

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
function brokenLinks(
  links: readonly Link[],
  pages: ReadonlyMap<string, Page>,
  files: ReadonlySet<string>,
): Link[] {
  return links.filter(({ target, anchor }) => {
    if (files.has(target)) return false;
    const page = pages.get(target);
    if (!page && !existsSync(target)) return true;
    return anchor !== '' && page !== undefined && !page.anchors.has(anchor);
  });
}

const SEARCH = 'search.md';
/** The script that holds what the table of recipes is filtered by. */
const FIELDS = 'docs/recipe-fields.js';
/** The pages that have scripts. */
const EXTRAS: Readonly<Record<string, Extras>> = {
  [SEARCH]: { scripts: ['search.js'], controls: '<p id="said" aria-live="polite"></p><ol id="found"></ol>' },
  'docs/recipes.md': {
    scripts: [FIELDS, 'filter.js'],
    controls:
      '<div id="filters" role="group" aria-label="Filter the table"><div><label for="field-words">words</label><input id="field-words" name="words" type="search" placeholder="leave-one-out"></div></div><p><span id="said" aria-live="polite"></span> <button id="clear" type="button">Show all</button></p>',
  },
};
/** The page /try is made apart from the others. */
const TRY = 'try/index.html';

/** Makes the site of the repository in the working directory. */
export function buildSite(): {
  readonly files: ReadonlyMap<string, string>;
  readonly copied: readonly string[];
  readonly broken: readonly Link[];
  /** The pages of the recipes, as Markdown. */
  readonly recipes: readonly MadePage[];
  /** The start policies that links of the site begin from. */
  readonly starts: readonly string[];
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
  const { pages: recipes, pictures, starts } = recipePages();
  const made = [{ source: SEARCH, markdown: '# Search\n' }, ...recipes];
  const written = sources.map((source) => ({ source, markdown: readFileSync(source, 'utf8') }));
  const all = [...written, ...made];
  const site = {
    pages: new Set(all.map(({ source }) => source)),
    files: new Set([...copied, ...pictures.keys(), TRY]),
  };
  const rendered = all.map(({ source, markdown }) => renderPage(source, markdown, site));
  const pages = new Map(rendered.map(({ page }) => [page.source, page]));
  const sections = [
    { title: 'rollmesh', sources: ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'] },
    ...sectionsOf(readFileSync('docs/README.md', 'utf8')),
  ];
  return {
    files: new Map([
      ...[...pages.values()].map(
        (page) => [page.path, documentOf(page, pages, sections, EXTRAS[page.source])] as const,
      ),
      ...pictures,
    ]),
    copied,
    broken: brokenLinks(
      rendered.flatMap(({ links }) => links),
      pages,
      site.files,
    ),
    recipes,
    starts,
  };
}

/** Writes the index that the search page reads. Throws where Pagefind refuses. */
async function writeIndex(folder: string): Promise<void> {
  const { index, errors } = await createIndex({});
  if (!index) throw new Error(`Pagefind does not start: ${errors.join('; ')}`);
  const added = await index.addDirectory({ path: folder });
  const written = await index.writeFiles({ outputPath: join(folder, 'pagefind') });
  const failed = [...added.errors, ...written.errors];
  if (failed.length) throw new Error(`Pagefind made no index: ${failed.join('; ')}`);
  await closePagefind();
}

/** What the site has, for programs that read (llmstxt.org): the pages of docs/README.md with their questions, and the recipes. */
function llmsText(index: string, recipes: readonly MadePage[]): string {
  const sections = index.split(/^## /m).slice(1);
  const pages = sections.map((section) => {
    const [title = ''] = section.split('\n');
    const rows = [...section.matchAll(/^\| \[([^\]]+)\]\(([^)#]+\.md)\) \| (.+) \|$/gm)];
    const lines = rows.map(
      ([, name, file, question]) => `- [${name}](${sitePath(`docs/${file}`)}): ${question}`,
    );
    return lines.length ? `## ${title}\n\n${lines.join('\n')}\n` : '';
  });
  const lines = recipes.map(({ source, markdown }) => {
    const [title = ''] = markdown.split('\n');
    return `- [${title.slice(2)}](${sitePath(source)})`;
  });
  return [
    '# rollmesh\n',
    '> Reinforcement-learning post-training of language models by self-play and generator-verifier co-training: Cloudflare Workers sample, a learner trains.\n',
    ...pages.filter(Boolean),
    `## Recipes\n\n${lines.join('\n')}\n`,
  ].join('\n');
}

async function write(folder: string): Promise<void> {
  const { files, copied, broken, recipes, starts } = buildSite();
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
  for (const path of ['site.css', 'search.js', 'filter.js']) copyFileSync(`web/site/${path}`, place(path));
  writeFileSync(place(FIELDS), `globalThis.recipeFields = ${JSON.stringify(recipeFields())};\n`);
  writeFileSync(place('llms.txt'), llmsText(readFileSync('docs/README.md', 'utf8'), recipes));
  await writeIndex(folder);
  await buildTryPage(join(folder, 'try'), '../docs/glossary.html', starts);
  console.log(
    `${[...files.keys()].filter((path) => path.endsWith('.html')).length} pages and the page /try are in ${folder}.`,
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await write(process.argv[2] ?? 'dist-site');
