/** The pages of the documentation as HTML: Markdown in, a page with navigation out. Links between pages are followed and checked. */
import { posix } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';

export interface Page {
  /** Where its source is in the repository, such as `docs/tasks.md`. */
  readonly source: string;
  /** Where it is in the site, such as `docs/tasks.html`. */
  readonly path: string;
  readonly title: string;
  readonly html: string;
  /** The ids of its headings and places, which links may name. */
  readonly anchors: ReadonlySet<string>;
}

/** A link of a page within the repository. */
export interface Link {
  readonly page: string;
  /** The file or folder that it leads to, from the root of the repository. */
  readonly target: string;
  readonly anchor: string;
}

/** The start page is the README; a folder's README is its index. A recipe's code is a page. */
export function sitePath(source: string): string {
  return source
    .replace(/^(recipes\/[^/]+)\/[^/]+\.ts$/, '$1.html')
    .replace(/(^|\/)README\.md$/, '$1index.html')
    .replace(/\.md$/, '.html');
}

/** A place in a page that links may name; the only markup of the documentation that is kept. */
const PLACE = /^(?:<a id="([a-z0-9-]+)">|<\/a>)$/;

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const isOutside = (href: string) => /^https?:/.test(href);

/** Where a link of a page leads within the repository; null for one that leads outside. */
function linkOf(page: string, href: string): Link | null {
  if (isOutside(href)) return null;
  const [path = '', anchor = ''] = href.split('#');
  const target = path ? posix.normalize(posix.join(posix.dirname(page), decodeURI(path))) : page;
  return { page, target: target.replace(/\/$/, ''), anchor };
}

export interface Site {
  /** The sources of the pages, which links may lead to. */
  readonly pages: ReadonlySet<string>;
  /** Files that are copied beside the pages, such as pictures. */
  readonly files: ReadonlySet<string>;
}

/**
 * Renders a page. A link to a file that is no page of the site, such as a source file, becomes its text: the site has no place for it.
 * @returns the page and its links within the site, and those to other files of the repository
 */
export function renderPage(source: string, markdown: string, site: Site) {
  const links: Link[] = [];
  const places: string[] = [];
  const own = sitePath(source);
  const placed = (href: string): string | null => {
    const link = linkOf(source, href);
    if (!link) return href;
    links.push(link);
    const page = [link.target, `${link.target}/README.md`].find((file) => site.pages.has(file));
    const to = page ? sitePath(page) : site.files.has(link.target) ? link.target : null;
    if (to === null) return null;
    const way = to === own && link.anchor ? '' : posix.relative(posix.dirname(own), to);
    return `${way}${link.anchor ? `#${link.anchor}` : ''}`;
  };
  const marked = new Marked(gfmHeadingId(), {
    renderer: {
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens as Token[]);
        const to = placed(href);
        return to === null ? text : `<a href="${escapeHtml(to)}">${text}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        return `<img src="${escapeHtml(placed(href) ?? href)}" alt="${escapeHtml(text)}">`;
      },
      // The documentation is ours, but its comments and stray tags are not for readers.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => {
        const place = PLACE.exec(text);
        if (place?.[1]) places.push(place[1]);
        return place ? text : text.startsWith('<!--') ? '' : escapeHtml(text);
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  const headings = getHeadingList();
  const title = headings.find(({ level }) => level === 1)?.raw ?? source;
  const anchors = new Set([...headings.map(({ id }) => id), ...places]);
  const page: Page = { source, path: own, title, html, anchors };
  return { page, links };
}

export interface NavigationSection {
  readonly title: string;
  readonly sources: readonly string[];
}

/** What a page may do: pages show text alone, but for those that have a script. */
const policyOf = (hasScripts: boolean) =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    ...(hasScripts
      ? ["script-src 'self' 'wasm-unsafe-eval'", "connect-src 'self'", "worker-src 'self'"]
      : []),
  ].join('; ');

/** What a page has beside its text: scripts, and the controls below its title that they need. */
export interface Extras {
  /** In their order. They are no modules, which a browser does not load for a page that is opened from disk. */
  readonly scripts: readonly string[];
  readonly controls: string;
}

/** The whole HTML document of a page. */
export function documentOf(
  page: Page,
  pages: ReadonlyMap<string, Page>,
  sections: readonly NavigationSection[],
  extras?: Extras,
): string {
  const to = (path: string) => posix.relative(posix.dirname(page.path), path);
  const entry = (source: string) => {
    const other = pages.get(source)!;
    const current = other === page ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(to(other.path))}"${current}>${escapeHtml(other.title)}</a></li>`;
  };
  const navigation = sections.map(
    ({ title, sources }) => `<h2>${escapeHtml(title)}</h2><ul>${sources.map(entry).join('')}</ul>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="${policyOf(extras !== undefined)}">
<title>${escapeHtml(page.title === 'rollmesh' ? 'rollmesh' : `${page.title} · rollmesh`)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to('site.css')}">
${(extras?.scripts ?? []).map((script) => `<script defer src="${to(script)}"></script>\n`).join('')}</head>
<body>
<nav aria-label="Documentation" data-pagefind-ignore>
<form class="search" role="search" action="${to('search.html')}"><input name="q" type="search" aria-label="Search the documentation" placeholder="Search"></form>
<p><a href="${to('try/index.html')}">Train in this tab</a></p>${navigation.join('')}</nav>
<main data-pagefind-body>
${extras ? page.html.replace('</h1>', `</h1>\n${extras.controls}`) : page.html}
<footer data-pagefind-ignore>From <code>${escapeHtml(page.source)}</code>.</footer>
</main>
</body>
</html>
`;
}
