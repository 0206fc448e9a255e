/** The documentation as a site: its pages, their links, and that nothing in them can run. */
import { expect, test } from 'vitest';
import { renderPage, sitePath } from '../../cli/reference/markdown.ts';
import { shipped } from '../../recipes/index.ts';
import { buildSite } from '../../web/site/build.ts';

const site = {
  pages: new Set(['README.md', 'docs/a.md', 'docs/log/README.md']),
  files: new Set(['docs/p.svg']),
};
const htmlOf = (markdown: string, source = 'docs/a.md') => renderPage(source, markdown, site).page.html;

test('links between pages lead to their HTML, those to other files of the repository become text', () => {
  expect(sitePath('README.md')).toBe('index.html');
  expect(sitePath('docs/log/README.md')).toBe('docs/log/index.html');
  expect(htmlOf('[up](../README.md#run-it)')).toContain('<a href="../index.html#run-it">up</a>');
  expect(htmlOf('[log](log)')).toContain('<a href="log/index.html">log</a>');
  expect(htmlOf('[here](#below)')).toContain('<a href="#below">here</a>');
  expect(htmlOf('![a picture](p.svg)')).toContain('<img src="p.svg" alt="a picture">');
  expect(htmlOf('[code](../core/policy.ts)')).toBe('<p>code</p>\n');
  expect(htmlOf('[out](https://example.org/)')).toContain('<a href="https://example.org/">out</a>');
});

test('markup in a page is shown and not run, and comments are not shown', () => {
  expect(htmlOf('a <script>alert(1)</script> <!-- hidden --> b')).not.toMatch(/<script|hidden/);
  expect(htmlOf('a <a id="x" onclick="alert(1)"></a>')).not.toContain('<a');
  expect(htmlOf('[x](javascript:alert(1))')).not.toContain('href="javascript:');
});

test('the site of this repository has every page, and no link in it leads nowhere', () => {
  const { files, broken } = buildSite();
  expect(broken).toEqual([]);
  expect(files.size).toBeGreaterThan(50);
  for (const [path, html] of files) expect([path, html.match(/<h1/g)?.length]).toEqual([path, 1]);
  expect(files.get('index.html')).toContain('<a href="docs/start.html">Start</a>');
  expect(files.get('docs/start.html')).toContain('aria-current="page"');
  expect(files.get('docs/start.html')).not.toMatch(/<script|script-src/);
});

test('each recipe has a page, to which the table leads, with its method, its code, and links that play it with its control', () => {
  const { files } = buildSite();
  const table = files.get('docs/recipes.html')!;
  for (const name of ['grpo', ...shipped.recipes.map((recipe) => recipe.name)]) {
    expect(table).toContain(`<a href="../recipes/${name}.html">`);
    expect(files.get(`recipes/${name}.html`)).toMatch(/<h2 id="run-it">[\s\S]*<h2 id="code">/);
  }
  expect(files.get('recipes/tango.html')).toContain(
    '<a href="../try/index.html#recipe=tango&#38;tasks=48&#38;group=5&#38;rounds=24&#38;reward=random">paid by a coin</a>',
  );
  // Made from a file of the user's, it has no start to be played from.
  expect(files.get('recipes/sft.html')).not.toContain('try/index.html#');
});
