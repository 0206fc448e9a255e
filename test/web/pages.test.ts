/** The documentation as a site: its pages, their links, and that nothing in them can run. */
import { expect, test } from 'vitest';
import { FILE_RECIPES } from '../../cli/file-recipes.ts';
import { renderPage, sitePath } from '../../cli/reference/markdown.ts';
import { settingsIn } from '../../local/try/settings.ts';
import { shipped } from '../../recipes/index.ts';
import { runOf } from '../../recipes/run-order.ts';
import { buildSite } from '../../web/site/build.ts';
import { recipeFields } from '../../web/site/recipe-fields.ts';

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

/** The site of this repository; what the lab tells for it takes two seconds of a core. */
const { files, broken, starts } = buildSite();

test('the site of this repository has every page, and no link in it leads nowhere', () => {
  expect(broken).toEqual([]);
  expect(files.size).toBeGreaterThan(50);
  for (const [path, html] of files)
    if (path.endsWith('.html')) expect([path, html.match(/<h1/g)?.length]).toEqual([path, 1]);
  expect(files.get('index.html')).toContain('<a href="docs/start.html">Start</a>');
  expect(files.get('docs/start.html')).toContain('aria-current="page"');
  expect(files.get('docs/start.html')).not.toMatch(/<script|script-src/);
});

test('each recipe has a page, to which the table leads, with its method, its code, and links that play it with its control', () => {
  const table = files.get('docs/recipes.html')!;
  for (const name of ['grpo', ...shipped.recipes.map((recipe) => recipe.name)]) {
    expect(table).toContain(`<a href="../recipes/${name}.html">`);
    expect(files.get(`recipes/${name}.html`)).toMatch(/<h2 id="run-it">[\s\S]*<h2 id="code">/);
  }
  expect(files.get('recipes/grpo.html')).toContain('Nothing was registered of it');
  expect(files.get('recipes/tango.html')).toContain(
    '<a href="../try/index.html#recipe=tango&#38;tasks=48&#38;group=5&#38;rounds=24&#38;reward=random">paid by a coin</a>',
  );
  // Made from a file of the user's, it has no start to be played from.
  expect(files.get('recipes/sft.html')).not.toContain('try/index.html#');
  expect(files.get('recipes/sft.html')).toContain('which the page that plays in a tab does not take');
});

/** The addresses of the page /try that a page has, as settings. */
const playedBy = (path: string) =>
  [...files.get(path)!.matchAll(/href="\.\.\/try\/index\.html(#[^"]+)"/g)].map(([, hash]) =>
    settingsIn(hash!.replaceAll('&#38;', '&')),
  );

test('the page of a claim has its registered result and plays its arm and the one that would refute it, beside the registered curve', () => {
  const html = files.get('recipes/trio.html')!;
  expect(html).toContain('<h2 id="registered-result">');
  expect(html).toMatch(
    /<strong>headline supported\.<\/strong> sampled accuracy at the end, judge above frozen judge, at least 0\.1/,
  );
  expect(html).toContain('12 of 40 rounds with one seed');
  expect(html).toContain('<img src="../try/registered/trio-sampled.svg"');
  // The first arm of the claim is not compared by its headline.
  expect(playedBy('recipes/trio.html').slice(0, 2)).toMatchObject([
    { recipe: 'trio', reward: 'judge', rounds: 12, registered: 'trio-sampled.svg' },
    { recipe: 'trio', reward: 'judge', freeze: 'judge', rounds: 12, registered: 'trio-sampled.svg' },
  ]);
  expect(playedBy('recipes/trio.html')[0]!.freeze).toBeUndefined();
  // A headline of one arm alone is refuted by the control; a claim of another start policy is played from it.
  expect(playedBy('recipes/ttrl.html')[1]).toMatchObject({ recipe: 'ttrl', reward: 'random' });
  expect(playedBy('recipes/sdpo.html')[0]).toMatchObject({ start: 'arithmetic-reading' });
  // Two claims of one recipe.
  for (const id of ['registered-result', 'registered-result-trio-frontier'])
    expect(files.get('recipes/trio-in-composition.html')).toContain(`<h2 id="${id}">`);
});

test('every link that plays a recipe can be played from a start policy that the site has, and its picture is there', () => {
  for (const { name } of shipped.recipes) {
    const links = playedBy(`recipes/${name}.html`);
    expect([name, links.length > 0]).toEqual([name, true]);
    for (const { recipe, reward, variant, freeze, start, registered, rounds, tasks, group } of links) {
      const order = {
        ...{ recipe: recipe!, seed: 0, rounds: rounds!, tasks: tasks!, freeze: freeze?.split(',') ?? [] },
        ...(group !== shipped.find(recipe!).groupSize && { groupSize: group! }),
        ...(reward && { rewardFunction: reward }),
        ...(variant && { variant }),
        ...(start && { policy: start }),
      };
      const run = runOf(shipped, order);
      expect(starts).toContain(start ?? run.recipe.startPolicy);
      if (registered) expect(files.get(`try/registered/${registered}`)).toContain('<svg');
    }
  }
});

test('each recipe has the values of its fields that its paper and its code have, and none has no credit or loss', () => {
  const fields = recipeFields();
  expect(Object.keys(fields)).toEqual([...FILE_RECIPES, ...shipped.recipes].map(({ name }) => name));
  // Read from the papers, and from the plans that the recipes make.
  const group = 'compared in a group, divided by its deviation (GRPO)';
  const clipped = 'clipped policy gradient';
  const toReference = 'KL divergence to a reference';
  expect(fields.dapo).toMatchObject({ credit: [group], objective: [clipped], roles: ['solver'] });
  expect(fields.ttrl).toMatchObject({ credit: [group], objective: [clipped, toReference] });
  expect(fields['llama-rl']).toMatchObject({
    credit: ['compared in a group, without its deviation'],
    objective: ['policy gradient without a clip'],
  });
  expect(fields.rise).toMatchObject({
    credit: ['whitened over the round', 'a critic (GAE)'],
    objective: [clipped, 'a critic or value model'],
    needs: ['a reference answer to each task'],
  });
  expect(fields.dpo).toMatchObject({ credit: ['pairs'], objective: ['pairs (DPO and others)'] });
  expect(fields.sdpo).toMatchObject({
    credit: ['token by token'],
    objective: ['distillation from a teacher'],
  });
  expect(fields.stp).toMatchObject({
    credit: ['chosen examples, or all alike'],
    objective: ['likelihood of examples'],
  });
  expect(fields['sc-vla']!.credit).toEqual(['whitened over the round', 'turn by turn, or step by step']);
  expect(fields['mmd']).toMatchObject({
    credit: ['compared in a group, without its deviation'],
    objective: ['policy gradient without a clip', toReference],
  });
  expect(fields['scol']).toMatchObject({ credit: ['pairs'], objective: ['pairs (DPO and others)'] });
  // It chooses programs by tests, and trains nothing.
  const without = Object.entries(fields).filter(([, { credit, objective }]) =>
    [...credit, ...objective].includes('none'),
  );
  expect(without.map(([name]) => name)).toEqual(['cosplay']);
});
