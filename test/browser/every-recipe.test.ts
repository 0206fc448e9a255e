/**
 * The pages of recipes, some of them in `npm test`, every one in `.ci/recipes`, and of a run on a file of questions: a short run of each is played in this process, stored as the mesh stores it, and walked through in a browser.
 * There are no token ids where texts should be, no empty charts or tables, no failed request and no complaint of the content policy.
 * Screenshots of some recipes are written to ROLLMESH_SCREENSHOTS where it names a folder.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { taskRecipe } from '../../cli/task-recipe.ts';
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { grpo } from '../../recipes/grpo/recipe.ts';
import { shipped } from '../../recipes/index.ts';
import { humanised, meaningOf } from '../../web/dashboard/figures.js';
import { CHROMIUM_NEEDED, chromiumPath, openBrowser } from '../bench/browser/chromium.ts';
import { ALWAYS, chosenRecipes } from '../every-recipe/chosen.ts';
import { openStore } from '../store/fixture.ts';
import { complaintsOf } from './complaints.ts';
import { type PlayedRun, playRun } from './recorded-mesh/play.ts';
import { serve } from './recorded-mesh/serve.ts';
import { storeRun } from './recorded-mesh/store.ts';

/** One run goes on for some rounds, so that curves are lines; the others show what one round leaves. */
const roundsOf = (recipe: string) => (recipe === 'trio' ? 3 : 1);
const SHOTS = process.env.ROLLMESH_SCREENSHOTS;
/** GRPO on a file of questions, as `npx rollmesh start --policy words --tasks FILE` makes it. */
const made = await taskRecipe({
  ...{ recipe: 'grpo', policy: 'words', tasks: ['examples/reasoning-gym/chain_sum.easy.jsonl'] },
  ...{ heldOut: '0.2', checker: 'number', extract: ['whole'], set: ['maxNew=64'] },
});
const onQuestions = grpo.make({ ...made!.data, start: 'words' });
const recipes = [...chosenRecipes(), onQuestions];
const known = registry([...shipped.recipes, onQuestions]);
/** The tokenizer of a run's start policy. */
const readerOf = ({ recipe: { startPolicy } }: PlayedRun['run']) =>
  openTokenizer(JSON.parse(readFileSync(`models/${startPolicy}/tokenizer.json`, 'utf8')));

/** What a reader must never see: a completion as token ids, a tag of a grammar, or a value that was not turned into words. */
const TOKEN_IDS = /(?:\b\d{1,5} ){6,}\d{1,5}\b/;
const UNREAD = /<(?:step|answer|eos|sep|ok|bad|right|wrong|solve|judge|propose)>|undefined|\[object |NaN/;

describe.skipIf(!chromiumPath)(`the page of every recipe${CHROMIUM_NEEDED}`, () => {
  let browser: Browser;
  // One tab for all visits: a new one takes longer than what most of them look at.
  let tab: Page;
  let complaints: string[];
  let store: Awaited<ReturnType<typeof openStore>>;
  let gateway: Awaited<ReturnType<typeof serve>>;
  const played = new Map<string, PlayedRun>();
  beforeAll(
    async () => {
      [browser, store] = await Promise.all([openBrowser(), openStore()]);
      for (const [i, { name }] of recipes.entries()) {
        const policy = name === onQuestions.name ? onQuestions.startPolicy : undefined;
        const run = await playRun(known, name, roundsOf(name), 5, policy);
        played.set(name, run);
        await storeRun(store as never, run, Date.UTC(2026, 4, 4, 9, i));
      }
      tab = await browser.newPage();
      complaints = complaintsOf(tab);
      gateway = await serve(store as never, known);
    },
    60_000 + 15_000 * recipes.length,
  );
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    await store?.close();
  });

  const atRun = (recipe: string, more = '') =>
    `${gateway.url}#run=${played.get(recipe)!.rounds[0]!.spec.run}${more}`;

  async function visit(url: string, look: (page: Page) => Promise<void>): Promise<void> {
    // The address alone changes between some visits; the page begins anew all the same.
    await tab.goto('about:blank');
    complaints.length = 0;
    await tab.goto(url);
    await look(tab);
    expect(complaints).toEqual([]);
  }

  /** Every chart has a mark with a place in it, every table has rows, and no figure stands without a value. */
  async function nothingEmpty(page: Page) {
    const drawn = await page
      .locator('main > :not([hidden]) .chart')
      .evaluateAll((all) =>
        all
          .filter((chart) => !chart.querySelector('.series :is(path[d*="L"], circle)'))
          .map((chart) => chart.querySelector('h3')?.textContent),
      );
    expect(drawn, 'charts without anything drawn').toEqual([]);
    const rows = await page
      .locator('main > :not([hidden]) table')
      .evaluateAll((all) =>
        all.filter((table) => !table.querySelector('tbody tr')).map(({ textContent }) => textContent),
      );
    expect(rows, 'tables without rows').toEqual([]);
    const missing = await page
      .locator('main > :not([hidden]) :is(.headline, .facts) dd')
      .evaluateAll((all) => all.filter(({ textContent }) => /^\s*(–|)\s*$/.test(textContent ?? '')).length);
    expect(missing, 'figures without a value').toBe(0);
  }

  /** Words of the page that need no explanation. */
  const PLAIN = /^(?:began|tasks|samples|tokens|round \d+)$/;
  /** Every term leads to its place in the glossary, or says what it means by itself. */
  async function explained(page: Page) {
    const terms = 'main > :not([hidden]) :is(#figures dt, .facts dt, #curves h3, .rounds thead th)';
    const unexplained = await page
      .locator(terms)
      .evaluateAll((all) =>
        all
          .filter((term) => !term.querySelector('a.term') && !term.closest('[title]'))
          .map((term) => (term.firstChild?.textContent ?? '').trim()),
      );
    expect(unexplained.filter((term) => !PLAIN.test(term))).toEqual([]);
    expect(await page.locator(`${terms} a.term`).count()).toBeGreaterThan(10);
  }

  test.each(recipes.map(({ name }) => name))('%s: its run, its round and its tasks', async (recipe) => {
    const { rounds, run } = played.get(recipe)!;
    const meanings = run.recipe.figures ?? {};
    await visit(atRun(recipe), async (page) => {
      await page.waitForSelector('.rounds tbody tr');
      await nothingEmpty(page);
      await explained(page);
      expect(await page.locator('#title').innerText()).toContain(run.recipe.summary);
      const titles = await page.locator('#curves h3').allInnerTexts();
      expect(new Set(titles).size).toBe(titles.length);
      // every figure of the recipe is a line of some chart, which says what it means
      const notes = (await page.locator('#curves .note').allInnerTexts()).join(' ');
      const text = (await page.locator('#curves .readout').allInnerTexts()).join(' ') + titles.join(' ');
      const figures = rounds.flatMap(({ line }) =>
        Object.entries({ ...line.report.figures, ...line.report.evaluation?.figures }),
      );
      for (const [name, value] of figures) {
        if (name.includes('/') || value === null) continue;
        expect(text, `the figure ${name}`).toContain(humanised(name));
        expect(notes, `what ${name} means`).toContain(`${humanised(name)}: ${meaningOf(meanings, name)}`);
      }
    });
    const last = rounds.at(-1)!;
    await visit(atRun(recipe, `&round=${last.spec.index}`), async (page) => {
      await page.waitForSelector('.tasks a');
      await nothingEmpty(page);
      await explained(page);
      const { figures, evaluation } = last.line.report;
      for (const [name, value] of Object.entries({ ...figures, ...evaluation?.figures }))
        if (!name.includes('/') && value !== null)
          expect(await page.locator('#round table').allInnerTexts(), `what ${name} means`).toContainEqual(
            expect.stringContaining(meaningOf(meanings, name)!),
          );
      const links = page.locator('.tasks a');
      expect(await links.count()).toBe(last.groups.length);
      // A task from a file is listed by its question.
      if (recipe === onQuestions.name)
        for (const listed of await page.locator('.tasks code').allInnerTexts())
          expect(listed).toMatch(/^[A-Z][^{}"]+$/);
      for (let i = 0; i < last.groups.length; i++) {
        await links.nth(i).click();
        await page.waitForSelector('.tasks a[aria-current] >> nth=0');
        await page.waitForFunction(
          (at) =>
            document.querySelectorAll('.tasks a')[at]?.hasAttribute('aria-current') &&
            document.querySelector('.solution'),
          i,
        );
        const shown = await page.locator('#round').innerText();
        expect(shown).not.toMatch(UNREAD);
        if (!/azr|style|sppo/.test(recipe))
          expect(await page.locator('.solution').allInnerTexts()).not.toContainEqual(
            expect.stringMatching(TOKEN_IDS),
          );
        expect(await page.locator('.solution').count()).toBeGreaterThan(0);
        // red is for failures: for what could not be read, and for nothing else
        for (const red of await page.locator('.task .bad').allInnerTexts())
          expect(red.trim()).toMatch(/^[a-z]+(-[a-z]+)*$/);
      }
      await page.selectOption('select[aria-label="Samples"]', 'probability');
      await page.waitForSelector('.token');
      expect(await page.locator('.token').count()).toBeGreaterThan(0);
    });
  });

  test('the list of runs: all are there, found by words, and two are drawn over one another', () =>
    visit(`${gateway.url}#view=runs`, async (page) => {
      await page.waitForSelector('#all-runs tbody tr');
      expect(await page.locator('#all-runs tbody tr').count()).toBe(recipes.length);
      await page.fill('#all-runs input[type=search]', 'sppo pref');
      expect(await page.locator('#all-runs tbody tr').count()).toBe(1);
      await page.fill('#all-runs input[type=search]', '');
      for (const recipe of ['trio', 'tango'])
        await page.check(`#all-runs input[value="${played.get(recipe)!.rounds[0]!.spec.run}"]`);
      await page.click('text=Compare selected');
      await page.waitForSelector('#compared a');
      expect(await page.locator('#curves .chart').first().locator('.series').count()).toBe(2);
      await nothingEmpty(page);
    }));

  test('filters and search of a round’s tasks', () =>
    visit(atRun('trio', '&round=1'), async (page) => {
      const { groups } = played.get('trio')!.rounds[0]!;
      await page.waitForSelector('.tasks .dots');
      const count = (admits: (gold: readonly (boolean | null)[]) => boolean) =>
        groups.filter(({ answersExact }) => admits(answersExact)).length;
      for (const [filter, expected] of [
        ['mixed', count((gold) => gold.includes(true) && gold.includes(false))],
        ['none', count((gold) => gold.includes(false) && !gold.includes(true))],
        [
          'disagree',
          groups.filter(({ judgments }) => judgments.some(({ oracle }) => oracle?.hit === false)).length,
        ],
      ] as const) {
        await page.selectOption('select[aria-label=Show]', filter);
        expect(await page.locator('.tasks a').count(), filter).toBe(expected);
      }
      await page.selectOption('select[aria-label=Show]', 'all');
      await page.fill('input[type=search] >> visible=true', groups[1]!.task);
      expect(await page.locator('.tasks a').first().innerText()).toContain(groups[1]!.task);
    }));

  test('proposals that were refused stand there with their outcome, the reason, and what was written', async () => {
    // ssp's gates refuse some of the proposals of this seed.
    const { rounds, run } = played.get('ssp')!;
    const { tasks, samples } = rounds[0]!.proposals;
    const admitted = new Set(tasks.map(({ proposal }) => proposal));
    const refused = episodesOf(samples).filter(([first]) => !admitted.has(first!.id));
    expect(refused.length).toBeGreaterThan(0);
    const { decode } = readerOf(run);
    await visit(atRun('ssp', '&round=1'), async (page) => {
      await page.click('.refused summary');
      const rows = page.locator('.refused tbody tr');
      expect(await rows.locator('th').allInnerTexts()).toEqual(refused.map((turns) => turns.at(-1)!.outcome));
      const cells = await rows.evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll('td')].map(({ textContent }) => textContent ?? '')),
      );
      for (const [i, [why, written]] of cells.entries()) {
        expect(why).toMatch(/^\S+ \S+ \S+/);
        const text = refused[i]!.map(({ ids }) => decode(ids)).join(' ');
        const words = text.replaceAll(/<\w+>/g, ' ').match(/\w{2,}/g) ?? [];
        for (const word of words) expect(written).toContain(word);
      }
    });
  });

  /** The text of a file that the page gives when `click` is done. */
  async function downloaded(page: Page, click: () => Promise<void>) {
    const [file] = await Promise.all([page.waitForEvent('download'), click()]);
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
  }

  test('downloads: rounds and tasks as CSV, samples as JSON lines, a chart as SVG', async () => {
    const { rounds } = played.get('trio')!;
    await visit(atRun('trio'), async (page) => {
      const table = await downloaded(page, () => page.click('text=Download as CSV'));
      expect(table.name).toBe('rounds.csv');
      const [titles, ...lines] = table.text
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','));
      const reward = titles!.indexOf('Reward and gold: reward');
      expect(lines.map(([round, ...rest]) => [Number(round), Number(rest[reward - 1])])).toEqual([
        [0, 0],
        ...rounds.map(({ spec, line }) => [spec.index, line.report.monitors!.reward]),
      ]);
      await page.locator('.chart.wide summary').click();
      const image = await downloaded(page, () => page.click('.chart.wide >> text=SVG'));
      expect(image.name).toBe('held-out-accuracy.svg');
      // It stands alone: a picture that a browser draws without the page's styles.
      expect(image.text).not.toMatch(/class=/);
      const drawn = await page.evaluate((text) => {
        const { documentElement } = new DOMParser().parseFromString(text, 'image/svg+xml');
        return [documentElement.tagName, documentElement.querySelectorAll('path[stroke]').length];
      }, image.text);
      expect(drawn).toEqual(['svg', expect.any(Number)]);
      expect(drawn[1]).toBeGreaterThanOrEqual(4);
    });
    const { groups } = rounds[0]!;
    await visit(atRun('trio', '&round=1'), async (page) => {
      await page.waitForSelector('.tasks .dots');
      const samples = await downloaded(page, () => page.getByRole('button', { name: 'JSONL' }).click());
      expect(samples.name).toBe('round-1-samples.jsonl');
      const read = samples.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const ids = (all: readonly { samples: readonly { id: string; ids: readonly number[] }[] }[]) =>
        all.map((group) => group.samples.map(({ id, ids: tokens }) => [id, tokens]));
      expect(ids(read)).toEqual(ids(groups));
      const tasks = await downloaded(page, () => page.getByRole('button', { name: 'CSV' }).click());
      expect(tasks.name).toBe('round-1-tasks.csv');
      const [, ...rows] = tasks.text
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','));
      expect(rows.map(([index, task, , , exact]) => [index, task, exact])).toEqual(
        groups.map(({ task, answersExact }, i) => [
          String(i),
          task,
          String(answersExact.filter((each) => each === true).length),
        ]),
      );
    });
  });

  test('tokens are tinted by whether their sample earned more or less than its group', async () => {
    const { groups } = played.get('trio')!.rounds[0]!;
    const earned = groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward ?? 0));
    const at = earned.findIndex((rewards) => new Set(rewards).size > 1);
    expect(at, 'a group whose rewards differ').toBeGreaterThanOrEqual(0);
    const rewards = earned[at]!;
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    await visit(atRun('trio', `&round=1&task=${groups[at]!.group}`), async (page) => {
      await page.waitForSelector('.solution');
      await page.selectOption('select[aria-label="Samples"]', 'advantage');
      await page.waitForSelector('.token:is([class*=up-], [class*=down-])');
      const tints = await page
        .locator('.solution')
        .evaluateAll((all) =>
          all.map((solution) => [
            ...new Set([...solution.querySelectorAll('.token')].map(({ className }) => className)),
          ]),
        );
      // One tint for all tokens of a sample, and the strongest for whoever is farthest from the mean.
      expect(tints.map((of) => of.map((name) => name.replace(/^token (\w+).*/, '$1')))).toEqual(
        rewards.map((reward) => [reward > mean ? 'up' : reward < mean ? 'down' : 'flat']),
      );
      const farthest = rewards
        .map((reward) => Math.abs(reward - mean))
        .reduce((most, size, i, sizes) => (size > sizes[most]! ? i : most), 0);
      expect(tints[farthest]![0]).toMatch(/-5$/);
    });
  });

  test.skipIf(!SHOTS)('screenshots', async () => {
    mkdirSync(SHOTS!, { recursive: true });
    for (const [form, options] of [
      ['desktop', { viewport: { width: 1320, height: 900 }, colorScheme: 'light' }],
      ['phone', { viewport: { width: 390, height: 800 }, colorScheme: 'light' }],
      ['dark', { viewport: { width: 1320, height: 900 }, colorScheme: 'dark' }],
    ] as const) {
      const page = await browser.newPage(options);
      for (const recipe of [...ALWAYS, onQuestions.name]) {
        await page.goto(atRun(recipe));
        await page.waitForSelector('.rounds tbody tr');
        await page.screenshot({ path: join(SHOTS!, `${recipe}-run-${form}.png`), fullPage: true });
        await page.goto(atRun(recipe, `&round=${roundsOf(recipe)}`));
        await page.waitForSelector('.tasks a');
        await page.locator('.tasks a').first().click();
        await page.waitForSelector('.solution');
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
          `${recipe} is wider than its screen`,
        ).toBe(0);
        await page.screenshot({ path: join(SHOTS!, `${recipe}-round-${form}.png`), fullPage: true });
      }
      await page.goto(`${gateway.url}#view=runs`);
      await page.waitForSelector('#all-runs tbody tr');
      await page.screenshot({ path: join(SHOTS!, `runs-${form}.png`) });
      await page.close();
    }
  });
});
